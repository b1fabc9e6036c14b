# The module, where Debian's redis-server has modules.
install(TARGETS bloomery_module LIBRARY DESTINATION lib/redis/modules COMPONENT module)
