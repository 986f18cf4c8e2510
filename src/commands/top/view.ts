/** Renders one span of time for `turnpike top` in the given columns and rows. */
import type { Labels, Span } from "./scrape.ts";

export interface Size {
	readonly columns: number;
	readonly rows: number;
}

/** Returns lines that fit the screen's width and height. */
export function viewOf(span: Span, address: string, { columns, rows }: Size): string[] {
	const fixed = [...head(span, address), "", ...figures(span), ""];
	const tables = [upstreamTable(span), chainTable(span), engineTable(span)].filter((table) => table.length > 1);
	const lines = [...fixed, ...shareRows(tables, rows - fixed.length)];
	return lines.slice(0, rows).map((line) => truncated(line.trimEnd(), columns));
}

function head(span: Span, address: string): string[] {
	const { latest } = span;
	const [version = ""] = latest.names("turnpike_build_info", "version");
	const startedAt = latest.sum("process_start_time_seconds");
	const uptime = startedAt === null ? "" : `  up ${duration(latest.atMs / 1_000 - startedAt)}`;
	const window = span.sinceStart ? "since its start" : `the last ${duration(span.seconds)}`;
	return [`turnpike ${version}  ${address}${uptime}`, `${new Date(latest.atMs).toISOString().slice(11, 19)} UTC, ${window}`];
}

const status = (value: string) => (labels: Labels) => labels.status?.[0] === value;
const unit = (value: string) => (labels: Labels) => labels.unit === value;
const direction = (value: string) => (labels: Labels) => labels.direction === value;

function figures(span: Span): string[] {
	const { latest } = span;
	const rate = (name: string, fits?: (labels: Labels) => boolean) => decimal(span.perSecond(name, fits));
	const spent = (kind: string) => money(span.increase("turnpike_spend_usd_total", unit(kind)));
	const quantile = (share: number) => milliseconds(span.quantile("turnpike_request_seconds", share));
	const written = latest.sum("turnpike_journal_written_seq");
	const applied = latest.sum("turnpike_journal_applied_seq");
	const behind = written === null || applied === null ? null : written - applied;
	const refusalReasons = latest.names("turnpike_node_no_room", "reason");
	const takesWork = latest.sum("turnpike_node_takes_work") === 0 ? `  NO NEW WORK: ${refusalReasons.join(", ")}` : "";
	const failed = (first: string) => rate("turnpike_requests_total", status(first));
	return [
		row(
			"requests",
			`${rate("turnpike_requests_total")}/s`,
			`refused ${failed("4")}/s`,
			`failed ${failed("5")}/s`,
			`running ${whole(latest.sum("turnpike_requests_running"))}`,
		),
		row("latency", `p50 ${quantile(0.5)}`, `p95 ${quantile(0.95)}`, `p99 ${quantile(0.99)}`),
		row(
			"tokens",
			`in ${rate("turnpike_tokens_total", direction("prompt"))}/s`,
			`out ${rate("turnpike_tokens_total", direction("completion"))}/s`,
		),
		row("spend", `${spent("usd")} USD`, `${spent("diem")} diem`, `overrun ${spent("overrun")}`),
		row(
			"books",
			`holds ${whole(latest.sum("turnpike_holds_open"))}`,
			`behind ${whole(behind)}`,
			`journal ${bytes(latest.sum("turnpike_journal_backlog_bytes"))}${takesWork}`,
		),
		row(
			"process",
			`memory ${bytes(latest.sum("process_resident_memory_bytes"))}`,
			`cpu ${percent(span.perSecond("process_cpu_seconds_total"))}`,
			`bodies ${bytes(latest.sum("turnpike_body_memory_bytes"))}`,
		),
	];
}

function upstreamTable(span: Span): string[][] {
	const { latest } = span;
	const rows = latest.names("turnpike_upstream_up", "upstream").map((name) => {
		const its = (labels: Labels) => labels.upstream === name;
		const calls = span.perSecond("turnpike_upstream_calls_total", its);
		const failuresPerSecond = span.perSecond(
			"turnpike_upstream_calls_total",
			(labels) => its(labels) && labels.outcome !== "good" && labels.outcome !== "left",
		);
		return [
			name,
			stateOf(span, "turnpike_upstream_up", its),
			whole(latest.sum("turnpike_upstream_running", its)),
			decimal(calls),
			decimal(failuresPerSecond),
		];
	});
	return [["UPSTREAM", "STATE", "RUNNING", "CALLS/S", "FAULTS/S"], ...rows];
}

function chainTable(span: Span): string[][] {
	const { latest } = span;
	const rows = latest.names("turnpike_rpc_upstream_up", "network").flatMap((network) =>
		latest.names("turnpike_rpc_upstream_up", "upstream").flatMap((name) => {
			const its = (labels: Labels) => labels.network === network && labels.upstream === name;
			// Upstream names are unique only within a network.
			if (latest.count("turnpike_rpc_upstream_up", its) === 0) return [];
			const head = latest.sum("turnpike_rpc_upstream_head", its);
			const lag = latest.sum("turnpike_rpc_upstream_lag_blocks", its);
			const running = latest.sum("turnpike_rpc_upstream_running", its);
			return [[`${network} ${name}`, stateOf(span, "turnpike_rpc_upstream_up", its), whole(running), whole(head), whole(lag)]];
		}),
	);
	return [["CHAIN", "STATE", "RUNNING", "HEAD", "LAG"], ...rows];
}

function engineTable(span: Span): string[][] {
	const { latest } = span;
	const rows = latest.names("turnpike_engine_processes", "engine").map((engine) => {
		const its = (labels: Labels) => labels.engine === engine;
		const ready = latest.sum("turnpike_engine_processes", (labels) => its(labels) && labels.state === "ready");
		const [working, waiting] = ["working", "waiting"].map((kind) => whole(latest.sum(`turnpike_engine_jobs_${kind}`, its)));
		return [engine, whole(ready), working ?? "-", waiting ?? "-", bytes(latest.sum("turnpike_engine_resident_bytes", its))];
	});
	return [["ENGINE", "READY", "WORKING", "WAITING", "MEMORY"], ...rows];
}

const stateOf = ({ latest }: Span, name: string, its: (labels: Labels) => boolean) =>
	latest.sum(name, its) === 0 ? "OUT" : "up";

/** Stacks the tables; each gets its part of the rows, and reports how many rows are hidden. */
function shareRows(tables: readonly string[][][], rows: number): string[] {
	let remainingRows = rows;
	return tables.flatMap((table, index) => {
		// One row separates two tables.
		const part = Math.max(2, Math.floor(remainingRows / (tables.length - index)) - 1);
		const shown = table.length <= part ? table : table.slice(0, part - 1);
		const more = table.length - shown.length;
		const lines = [...alignColumns(shown), ...(more > 0 ? [`... ${more} more`] : []), ""];
		remainingRows -= lines.length;
		return lines;
	});
}

/** Aligns the first column to the left and numbers to the right. */
function alignColumns(table: readonly string[][]): string[] {
	const first = Math.max(28, ...table.map(([name = ""]) => name.length));
	return table.map(
		([name = "", ...cells]) =>
			`${name.padEnd(Math.min(first, 44)).slice(0, 44)}${cells.map((cell) => cell.padStart(10)).join("")}`,
	);
}

const row = (name: string, ...cells: string[]) => `${name.padEnd(10)}${cells.map((cell) => cell.padEnd(17)).join("")}`;
const truncated = (line: string, columns: number) =>
	line.length > columns ? `${line.slice(0, Math.max(columns - 1, 0))}…` : line;

const UNKNOWN = "-";
const whole = (value: number | null) => (value === null ? UNKNOWN : String(Math.round(value)));
const decimal = (value: number | null) =>
	value === null ? UNKNOWN : value >= 100 ? String(Math.round(value)) : value.toFixed(1);
const money = (value: number | null) => (value === null ? UNKNOWN : value.toFixed(value !== 0 && value < 1 ? 6 : 2));
const percent = (value: number | null) => (value === null ? UNKNOWN : `${Math.round(value * 100)} %`);

function milliseconds(seconds: number | null): string {
	if (seconds === null) return UNKNOWN;
	return seconds < 1 ? `${Math.round(seconds * 1_000)} ms` : `${seconds.toFixed(1)} s`;
}

function bytes(value: number | null): string {
	if (value === null) return UNKNOWN;
	return value < 1_000_000 ? `${Math.ceil(value / 1_000)} KB` : `${Math.round(value / 1_000_000)} MB`;
}

function duration(seconds: number): string {
	const rounded = Math.max(0, Math.round(seconds));
	if (rounded < 120) return `${rounded} s`;
	if (rounded < 7_200) return `${Math.floor(rounded / 60)} min`;
	if (rounded < 172_800) return `${Math.floor(rounded / 3_600)} h ${Math.floor((rounded % 3_600) / 60)} min`;
	return `${Math.floor(rounded / 86_400)} days`;
}
