// MULTI and EXEC first; EVAL for what they did not do.
#include "redis/moments.hpp"

#include <bloomery/error.hpp>

#include <string_view>
#include <utility>

namespace bloomery::detail {
namespace {

// ARGV: for each command, how many words it has, and these.
constexpr std::string_view kRun =
    "local replies, at = {}, 1 while at <= #ARGV do local last = at + tonumber(ARGV[at]) "
    "replies[#replies + 1] = redis.call(unpack(ARGV, at + 1, last)) at = last + 1 end "
    "return replies";

void put(Commands& to, const std::vector<std::string>& words) {
  for (const std::string& word : words) to.word(word);
}

Order transaction_of(const Moment& moment) {
  Order order(moment.key);
  order.next().command({"MULTI"});
  for (const auto& words : moment.commands) put(order.next().begin(words.size()), words);
  order.next().command({"EXEC"});
  return order;
}

Order script_of(const Moment& moment) {
  std::size_t words = 4;
  for (const auto& each : moment.commands) words += 1 + each.size();
  Order order(moment.key);
  Commands& to = order.next().begin(words).word("EVAL").word(kRun).word("1").word(moment.key);
  for (const auto& each : moment.commands) put(to.number(each.size()), each);
  return order;
}

}  // namespace

void run_moments(Cluster& cluster, std::span<const Moment> moments, const TakeMoment& take) {
  std::vector<Order> orders;
  for (const Moment& moment : moments) orders.push_back(transaction_of(moment));
  std::vector<bool> taken(moments.size());
  const auto take_last = [&](std::size_t i, std::size_t command, const Reply& reply) {
    const Moment& moment = moments[i];
    if (command + 1 < orders[i].size()) return require_type(reply, REDIS_REPLY_STATUS, moment.name);
    if (is_aborted(*reply)) return;
    require_type(reply, REDIS_REPLY_ARRAY, moment.name);
    if (reply->elements != moment.commands.size())
      throw Error(ErrorCode::io, moment.name + ": an answer of another length; check the address");
    take(i, {reply->element, reply->elements});
    taken[i] = true;
  };
  try {
    cluster.start(orders);
    cluster.finish(orders, take_last);
    for (std::size_t i = 0; i < orders.size(); ++i) {
      if (orders[i].fault() || taken[i]) continue;
      Order order = script_of(moments[i]);
      order.goes_where(orders[i]);
      orders[i] = std::move(order);
    }
    cluster.settle(orders, take_last);
  } catch (...) {
    cluster.drop();
    throw;
  }
  for (const Order& order : orders)
    if (order.fault()) throw *order.fault();
  for (std::size_t i = 0; i < moments.size(); ++i)
    if (!taken[i])
      throw Error(
          ErrorCode::unavailable,
          moments[i].name + ": the server gave up a transaction and did not say why; try again");
}

bool is_aborted(const redisReply& reply) {
  return reply.type == REDIS_REPLY_ERROR &&
         std::string_view(reply.str, reply.len).starts_with("EXECABORT");
}

}  // namespace bloomery::detail
