// `bloomery salvage`: a usable filter from a damaged file, without losing a key.
#include "output/output.hpp"
#include "output/text.hpp"
#include "verbs/verbs.hpp"

#include <fmt/format.h>
#include <bloomery/any_filter.hpp>

namespace bloomery::cli {

int run_salvage(const Options& options) {
  const std::string& path = options.files[0];
  const std::string& out = options.files[1];
  for (const std::string& name : options.files) {
    if (AnyFilter::is_address(name))
      throw Error(
          ErrorCode::wrong_kind,
          "an address: salvage repairs files, by their checksums; the bits on a server have none");
    (void)AnyFilter::display_name(name);  // refuses a host and a port
  }
  const SalvageReport report =
      naming_force(out, options.force, [&] { return salvage(path, out, options.force); });
  if (options.quiet) return kExitFound;
  const bool one = report.filled_chunks == 1 || report.chunks == 1;
  const std::string filled =
      report.filled_chunks == 0 ? "" : fmt::format(" and {} all ones now", one ? "is" : "are");
  remark(fmt::format("wrote {}: {} of {} {} damaged{}; current fpr {}", out,
                     group_digits(report.filled_chunks), counted(report.chunks, "chunk"),
                     one ? "was" : "were", filled, fpr_text(report.current_fpr)));
  return kExitFound;
}

}  // namespace bloomery::cli
