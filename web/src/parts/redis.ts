// What the plan is in Redis: one key of a module, or so many strings.
import { byId, make } from "../base/dom.ts";
import * as format from "../base/format.ts";
import type { Case } from "../case.ts";
import { MAX_REDIS_BITS } from "../costs.ts";
import { t } from "../texts/index.ts";

export function showRedis(found: Case): void {
  const { plan } = found;
  byId("redis-title").closest("section")?.toggleAttribute("hidden", !plan);
  if (!plan) return;
  const shards = Math.ceil(plan.bits / MAX_REDIS_BITS);
  const names = shards <= 3
    ? Array.from({ length: shards }, (_, i) => `seen:${i}`).join(" ")
    : `seen:0 seen:1 … seen:${shards - 1}`;
  byId("redis").replaceChildren(make("ul", { class: "redis" },
    make("li", {}, t("redis_module", { memory: format.bytes(plan.bits / 8) })),
    make("li", {}, shards === 1
      ? t("redis_strings_one", { share: format.rate(Math.max(1e-5, Number((plan.bits / 2 ** 32).toPrecision(2)))) })
      : t("redis_strings_many", {
          shards: format.whole(shards),
          items: format.whole(Math.ceil(plan.items / shards)),
          memory: format.bytes(plan.bits / shards / 8),
        })),
    shards === 1 ? null : make("li", {}, t("redis_keys", { keys: names }))));
}
