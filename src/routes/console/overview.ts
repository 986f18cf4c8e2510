import type { Answer } from "../../server/endpoint.ts";
import { NAMED_WINDOW_SECONDS } from "../../telemetry/traffic.ts";
import { chargesView, NO_CHARGES } from "./charges.ts";
import type { ConsoleApiDeps } from "./deps.ts";
import { answer } from "./page.ts";
import { slotView, trafficView } from "./traffic-view.ts";
import type { AuditState, LogLevel, Overview, OverviewDay } from "./types.ts";
import { dayText, instant } from "./when.ts";

const HOUR_MS = 3_600_000;

/** GET /overview: this server now, and all nodes over days. */
export async function overview(days: number, audit: AuditState, deps: ConsoleApiDeps): Promise<Answer> {
	const { node, log } = deps;
	const { traffic, running, rssBytes, journal } = await deps.state();
	const now = traffic.now();
	const states = deps.upstreams.snapshot().map(({ state }) => state);
	const count = (state: string) => states.filter((each) => each === state).length;
	return answer<Overview>({
		node: {
			id: node.id,
			startedAt: instant(node.startedAtMs),
			store: node.store,
			logLevel: log.level as LogLevel,
			rssBytes,
		},
		now: { ...trafficView(now), perSecond: now.requests / NAMED_WINDOW_SECONDS, running },
		minutes: traffic.minutes().map(slotView),
		hours: traffic
			.hours()
			.filter(({ atMs }) => atMs + HOUR_MS > node.startedAtMs)
			.map(slotView),
		days: await chargedDays(days, deps),
		journal,
		upstreams: { up: count("up"), trial: count("trial"), out: count("out") },
		books: audit,
	});
}

async function chargedDays(days: number, { reader }: ConsoleApiDeps): Promise<OverviewDay[]> {
	const lastDay = reader.today();
	const range = { firstDay: lastDay - days + 1, lastDay };
	const [charges, requests] = await Promise.all([reader.chargesByDay(range), reader.requestDays(range)]);
	return requests.map(({ day, requests: count }) => ({
		day: dayText(day),
		requests: count,
		...chargesView(charges.get(day) ?? NO_CHARGES),
	}));
}
