// What the plan is in Redis: one key of a module, or so many strings.
import { byId, make } from "../base/dom.ts";
import * as format from "../base/format.ts";
import type { Case } from "../case.ts";
import { redisShards } from "../costs.ts";
import { t } from "../texts/index.ts";

export function showRedis(found: Case): void {
  const { plan } = found;
  byId("redis-title").closest("section")?.toggleAttribute("hidden", !plan);
  if (!plan) return;
  const shards = redisShards(plan.bits);
  byId("redis").replaceChildren(make("ul", { class: "redis" },
    make("li", {}, t("redis_module", { memory: format.bytes(plan.bits / 8) })),
    make("li", {}, shards === 1
      ? t("redis_strings_one", { share: format.rate(Math.max(1e-5, Number((plan.bits / 2 ** 32).toPrecision(2)))) })
      : t("redis_strings_many", {
          shards: format.whole(shards),
          more: format.whole(shards - 1),
          items: format.compact(Math.ceil(plan.items / shards)),
          memory: format.bytes(plan.bits / shards / 8),
        }))));
}
