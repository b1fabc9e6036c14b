// Sends MULTI and EXEC first, and EVAL for the transactions that were redirected or not queued.
#include "redis/cluster/transaction.hpp"

#include <bloomery/error.hpp>

#include <string_view>
#include <utility>

namespace bloomery::detail {
namespace {

// ARGV: for each command its number of words, then the words.
constexpr std::string_view kRun =
    "local replies, at = {}, 1 while at <= #ARGV do local last = at + tonumber(ARGV[at]) "
    "replies[#replies + 1] = redis.call(unpack(ARGV, at + 1, last)) at = last + 1 end "
    "return replies";

Request with_multi(const Transaction& transaction) {
  Request request(transaction.key);
  request.next().command({"MULTI"});
  for (const auto& words : transaction.commands) request.next().command(words);
  request.next().command({"EXEC"});
  return request;
}

Request with_script(const Transaction& transaction) {
  std::size_t words = 4;
  for (const auto& each : transaction.commands) words += 1 + each.size();
  Request request(transaction.key);
  Commands& to = request.next().begin(words).word("EVAL").word(kRun);
  to.word("1").word(transaction.key);
  for (const auto& each : transaction.commands) {
    to.number(each.size());
    for (const std::string& word : each) to.word(word);
  }
  return request;
}

}  // namespace

void run_transactions(Cluster& cluster, std::span<const Transaction> transactions,
                      const TakeTransaction& take) {
  std::vector<Request> requests;
  for (const Transaction& each : transactions) requests.push_back(with_multi(each));
  std::vector<bool> taken(transactions.size());
  const auto take_last = [&](std::size_t i, std::size_t command, const Reply& reply) {
    const std::string& name = transactions[i].name;
    if (command + 1 < requests[i].size()) {
      if (!has_no_room(*reply)) require_type(reply, REDIS_REPLY_STATUS, name);
      return;
    }
    if (is_aborted(*reply, name)) return;
    require_type(reply, REDIS_REPLY_ARRAY, name);
    require_elements(*reply, transactions[i].commands.size(), name);
    take(i, {reply->element, reply->elements});
    taken[i] = true;
  };
  try {
    cluster.start(requests);
    cluster.finish(requests, take_last);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].fault() || taken[i]) continue;
      Request request = with_script(transactions[i]);
      request.goes_where(requests[i]);
      requests[i] = std::move(request);
    }
    cluster.follow(requests, take_last);
  } catch (...) {
    cluster.drop();
    throw;
  }
  for (const Request& request : requests)
    if (request.fault()) throw *request.fault();
  for (std::size_t i = 0; i < transactions.size(); ++i)
    if (!taken[i])
      throw Error(ErrorCode::unavailable,
                  transactions[i].name +
                      ": the server discarded a transaction and did not say why; try again");
}

bool has_no_room(const redisReply& reply) {
  return reply.type == REDIS_REPLY_ERROR && text_of(reply).starts_with("OOM");
}

bool is_aborted(const redisReply& reply, const std::string& name) {
  constexpr std::string_view kReason = "because of: ";
  const std::string_view said = text_of(reply);
  if (reply.type != REDIS_REPLY_ERROR || !said.starts_with("EXECABORT")) return false;
  const std::size_t at = said.find(kReason);
  if (at == std::string_view::npos) return true;
  redisReply reason = reply;
  reason.str += at + kReason.size();
  reason.len -= at + kReason.size();
  throw meaning(reason, name);
}

}  // namespace bloomery::detail
