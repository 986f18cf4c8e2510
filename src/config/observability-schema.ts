/** The sections for operators: log, metrics, traces, alerts. */
import Type from "typebox";
import { HEADER_VALUE, HTTP_ADDRESS, headers, ms, section, text } from "./schema-types.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LogSchema = section({
	level: Type.Enum([...LOG_LEVELS], { default: "info", description: "JSON lines on standard error" }),
	requests: Type.Boolean({ default: false, description: "true: a line for each request, at level info" }),
});

export const MetricsSchema = section({
	token: Type.Optional(
		Type.String({
			pattern: HEADER_VALUE,
			minLength: 16,
			description: "GET /metrics asks for it as a Bearer token; left out: it answers this machine alone",
		}),
	),
});

export const TracesSchema = section({
	url: Type.Optional(
		Type.String({
			pattern: HTTP_ADDRESS,
			description: "Where traces go, OTLP over HTTP as JSON, like http://localhost:4318/v1/traces; left out: none are made",
		}),
	),
	headers: headers(),
	share: Type.Number({
		minimum: 0,
		maximum: 1,
		default: 1,
		description: "Of requests without a traceparent that says it; 1 is all",
	}),
	passTo: Type.Array(text(), { default: [], description: "Names of upstreams that are sent a traceparent" }),
});

export const AlertsSchema = section({
	url: Type.Optional(Type.String({ pattern: HTTP_ADDRESS, description: "Where alerts are posted; left out: none are raised" })),
	secret: Type.Optional(
		Type.String({ minLength: 16, description: "What alerts are signed with (HMAC-SHA256); needed where url is set" }),
	),
	everyMs: ms(60_000, "How often the rules are looked at"),
	balanceBelowUsd: Type.Optional(
		Type.Number({
			minimum: 0,
			maximum: 9_000_000,
			description: "An account that has paid in or was given credit has less in USD; left out: not looked at",
		}),
	),
	keyLimitShare: Type.Optional(
		Type.Number({
			exclusiveMinimum: 0,
			maximum: 1,
			description: "A key has spent this share of its limit, like 0.9; left out: not looked at",
		}),
	),
	dailySpendUsd: Type.Optional(
		Type.Number({
			minimum: 0,
			maximum: 9_000_000,
			description: "All accounts together spent more on this UTC day; left out: not looked at",
		}),
	),
	upstreams: Type.Boolean({ default: true, description: "An upstream is out, or a chain has none left" }),
	journal: Type.Boolean({ default: true, description: "The node takes no new work: disk, journal or store" }),
	booksEveryMs: Type.Integer({
		minimum: 0,
		maximum: 86_400_000,
		default: 3_600_000,
		description: "How often the books are proven; 0: they are not. Each time reads all of them",
	}),
});
