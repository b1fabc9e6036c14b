# The tool with its man page and completions, which it writes itself from its table of flags.
set(man ${CMAKE_CURRENT_BINARY_DIR}/bloomery.1)
set(bash ${CMAKE_CURRENT_BINARY_DIR}/bloomery.bash)
set(zsh ${CMAKE_CURRENT_BINARY_DIR}/_bloomery)
set(fish ${CMAKE_CURRENT_BINARY_DIR}/bloomery.fish)
add_custom_command(
  OUTPUT ${man}.gz ${bash} ${zsh} ${fish}
  COMMAND bloomery_tool --generate man > ${man}
  COMMAND gzip -9nf ${man}
  COMMAND bloomery_tool --generate complete-bash > ${bash}
  COMMAND bloomery_tool --generate complete-zsh > ${zsh}
  COMMAND bloomery_tool --generate complete-fish > ${fish}
  DEPENDS bloomery_tool
  VERBATIM)
add_custom_target(bloomery_generated ALL DEPENDS ${man}.gz ${bash} ${zsh} ${fish})

install(TARGETS bloomery_tool RUNTIME COMPONENT tool)
install(FILES bloomery-metrics.service bloomery-metrics.timer DESTINATION lib/systemd/system COMPONENT tool)
install(FILES ${man}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)
set(share ${CMAKE_INSTALL_DATADIR})
install(FILES ${bash} DESTINATION ${share}/bash-completion/completions RENAME bloomery COMPONENT tool)
install(FILES ${fish} DESTINATION ${share}/fish/vendor_completions.d COMPONENT tool)
# zsh looks into one folder for packages and into another below /usr/local.
install(CODE "
  set(folder site-functions)
  if(CMAKE_INSTALL_PREFIX MATCHES \"(^|/)usr$\")
    set(folder vendor-completions)
  endif()
  file(INSTALL ${zsh} DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${share}/zsh/\${folder}\")" COMPONENT tool)
