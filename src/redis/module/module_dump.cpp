// Loads a dump under a staged name.
#include <bloomery/module_dump.hpp>

#include <bloomery/error.hpp>

#include "redis/cluster/cluster.hpp"
#include "redis/module/module_replies.hpp"
#include "redis/shards/staged_keys.hpp"

namespace bloomery {
namespace {

// ARGV: 1 if a filter of a module may be replaced.
constexpr detail::StagedKeys::Rules kOneFilter = {
    .functions =
        "local function is_filter(key) local kind = redis.call('TYPE', key).ok "
        "return kind == 'bloomery-' or kind == 'MBbloom--' end ",
    .may_go = "ARGV[1] == '1' and is_filter(KEYS[1])",
    .is_longer = {},
    .is_whole = "is_filter(KEYS[2])",
    .is_ours = {}};

}  // namespace

class ModuleLoader::Staged {
 public:
  Staged(const RedisPlace& place, bool replace)
      : cluster_(place),
        keys_({place.key}, kOneFilter),
        name_(cluster_.name_of(place.key)),
        replace_(replace) {
    if (place.shards)
      throw Error(
          ErrorCode::wrong_kind,
          name_ + ": a dump is of one filter, which is not in shards; load it under one key");
  }
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;
  ~Staged() {
    if (!published_) keys_.drop_staged(cluster_);
  }

  void load(const ModuleChunk& chunk) {
    if (chunk.iterator == 1) {
      keys_.require_expiry(cluster_);
      unmoved_ = detail::UnmovedSlots(cluster_, keys_.names());
    }
    unmoved_.require();
    try {
      detail::load_chunk(cluster_, key(), chunk, name_);
    } catch (const Error& error) {
      unmoved_.explain(error);
    }
  }

  void restore(std::string_view payload) {
    unmoved_ = detail::UnmovedSlots(cluster_);  // one command brings the whole filter
    detail::Request request(key());
    request.next().command({"RESTORE", key(), "600000", payload});
    request.next().command({"TYPE", key()});
    cluster_.run_all({&request, 1}, [&](std::size_t, std::size_t, const detail::Reply& reply) {
      detail::require_chunk_reply(*reply, REDIS_REPLY_STATUS, name_);
      const std::string_view said = detail::text_of(*reply);
      if (said != "OK" && said != "bloomery-" && said != "MBbloom--")
        throw Error(ErrorCode::not_a_filter,
                    name_ + ": what was restored is not a filter of a module");
    });
  }

  void publish() {
    unmoved_.require_history();
    if (!keys_.publish_only(cluster_, {replace_ ? "1" : "0"}))
      throw Error(
          ErrorCode::exists,
          name_ +
              (replace_ ? " exists and is not a filter of a module, and only such a filter is "
                          "replaced"
                        : " exists already") +
              "; choose another key");
    published_ = true;
  }

 private:
  [[nodiscard]] const std::string& key() const { return keys_.names()[0]; }

  detail::Cluster cluster_;
  detail::StagedKeys keys_;
  detail::UnmovedSlots unmoved_{cluster_};
  std::string name_;
  bool replace_;
  bool published_ = false;
};

ModuleLoader::ModuleLoader(const RedisPlace& place, bool replace)
    : staged_(std::make_unique<Staged>(place, replace)) {}
ModuleLoader::~ModuleLoader() = default;
void ModuleLoader::load(const ModuleChunk& chunk) { staged_->load(chunk); }
void ModuleLoader::restore(std::string_view payload) { staged_->restore(payload); }
void ModuleLoader::publish() { staged_->publish(); }

}  // namespace bloomery
