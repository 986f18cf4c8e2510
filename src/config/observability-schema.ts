/** The sections for operators: log, metrics, traces, alerts. */
import Type from "typebox";
import { HEADER_VALUE, HTTP_ADDRESS, headers, ms, section, text } from "./schema-types.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LogSchema = section({
	level: Type.Enum([...LOG_LEVELS], { default: "info", description: "Level of the log, which is JSON lines on standard error" }),
	requests: Type.Boolean({ default: false, description: "true: logs a line for each request, at level info" }),
});

export const MetricsSchema = section({
	token: Type.Optional(
		Type.String({
			pattern: HEADER_VALUE,
			minLength: 16,
			description: "Bearer token that GET /metrics requires. If unset, only this machine can read /metrics",
		}),
	),
});

export const TracesSchema = section({
	url: Type.Optional(
		Type.String({
			pattern: HTTP_ADDRESS,
			description:
				"Where traces are sent, as OTLP over HTTP in JSON, like http://localhost:4318/v1/traces. If unset, there are no traces",
		}),
	),
	headers: headers(),
	share: Type.Number({
		minimum: 0,
		maximum: 1,
		default: 1,
		description: "Share of requests that are traced, unless their traceparent decides; 1 means all",
	}),
	passTo: Type.Array(text(), { default: [], description: "Names of upstreams that get a traceparent" }),
});

export const AlertsSchema = section({
	url: Type.Optional(
		Type.String({ pattern: HTTP_ADDRESS, description: "Where alerts are posted. If unset, there are no alerts" }),
	),
	secret: Type.Optional(
		Type.String({ minLength: 16, description: "Key of the alerts' signatures (HMAC-SHA256); required if url is set" }),
	),
	everyMs: ms(60_000, "How often the rules are checked"),
	balanceBelowUsd: Type.Optional(
		Type.Number({
			minimum: 0,
			maximum: 9_000_000,
			description: "Alerts if an account that has topped up, or got credit, has less than this in USD. If unset: no such alert",
		}),
	),
	keyLimitShare: Type.Optional(
		Type.Number({
			exclusiveMinimum: 0,
			maximum: 1,
			description: "Alerts if a key has spent this share of its limit, like 0.9. If unset: no such alert",
		}),
	),
	dailySpendUsd: Type.Optional(
		Type.Number({
			minimum: 0,
			maximum: 9_000_000,
			description: "Alerts if all accounts together spend more than this in USD on a UTC day. If unset: no such alert",
		}),
	),
	upstreams: Type.Boolean({ default: true, description: "Alerts if an upstream is out of use, or a chain has no upstream left" }),
	journal: Type.Boolean({
		default: true,
		description: "Alerts if the node takes no new work because of its disk, journal or store",
	}),
	booksEveryMs: Type.Integer({
		minimum: 0,
		maximum: 86_400_000,
		default: 3_600_000,
		description: "How often the books are audited; 0: never. Each audit reads all of them",
	}),
});
