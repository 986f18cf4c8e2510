import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Overview, TrafficSlot } from "../../../src/routes/console/types.ts";
import { queries } from "../api/queries.ts";
import { amountText, dollars, isZero, shortDollars, sumOf } from "../format/amount.ts";
import { bytes, compact, count, duration, percent } from "../format/quantity.ts";
import { Amount } from "../parts/amount.tsx";
import { Chart } from "../parts/chart.tsx";
import { Choice } from "../parts/choice.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Moment } from "../parts/moment.tsx";
import { Figure, Figures, Page, Section } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";

const SPANS = [
	{ value: "7", text: "7 days" },
	{ value: "30", text: "30 days" },
	{ value: "90", text: "90 days" },
] as const;

/** The overview: traffic, revenue and faults. */
export function OverviewPage(): ReactNode {
	const [days, setDays] = useState<(typeof SPANS)[number]["value"]>("30");
	const query = useQuery(queries.overview(Number(days)));
	return (
		<Page title="Overview" says="Traffic is that of this node; charges are those of all nodes.">
			<Loaded query={query}>
				{(overview) => (
					<>
						<Warnings overview={overview} />
						<Now overview={overview} />
						<Traffic overview={overview} />
						<Section
							title="Charges by day"
							says="Days are UTC. All units are added up: one diem pays for one dollar of use."
							actions={<Choice label="Number of days" value={days} onChange={setDays} options={SPANS} />}
						>
							<Days overview={overview} />
						</Section>
						<Node overview={overview} />
					</>
				)}
			</Loaded>
		</Page>
	);
}

function Warnings({ overview: { journal, upstreams, books } }: { readonly overview: Overview }) {
	const report = books.report;
	return (
		<>
			{journal.full === null ? null : (
				<div className="note note-bad" role="alert">
					The node takes no paid requests now: {journal.full}.
				</div>
			)}
			{report === null || report.ok ? null : (
				<div className="note note-bad" role="alert">
					The books are out of balance: {count(report.findings.length)} findings. <Link to="/books">Show the books</Link>
				</div>
			)}
			{upstreams.out === 0 ? null : (
				<div className="note note-warn">
					{upstreams.out === 1 ? "One upstream is out." : `${upstreams.out} upstreams are out.`}{" "}
					<Link to="/models">Show the upstreams</Link>
				</div>
			)}
		</>
	);
}

function Now({ overview: { now, days } }: { readonly overview: Overview }) {
	const today = days.at(-1);
	const share = (part: number) => (now.requests === 0 ? "no requests" : percent(part / now.requests));
	return (
		<Section title="Now" says="The last five minutes of this node, and today (UTC) in the books.">
			<Figures>
				<Figure name="Requests a second" note={`${count(now.requests)} in five minutes`}>
					{now.perSecond < 10 ? now.perSecond.toFixed(1) : count(Math.round(now.perSecond))}
				</Figure>
				<Figure name="Running">{count(now.running)}</Figure>
				<Figure name="Latency, median" note={now.latencyMs === null ? undefined : `95 %: ${duration(now.latencyMs.p95)}`}>
					{now.latencyMs === null ? <span className="quiet">none</span> : duration(now.latencyMs.p50)}
				</Figure>
				<Figure name="Errors (5xx)" note={share(now.errors)}>
					{count(now.errors)}
				</Figure>
				<Figure name="Refused (4xx)" note={share(now.refused)}>
					{count(now.refused)}
				</Figure>
				<Figure name="Charged today" note={today === undefined ? undefined : `${count(today.requests)} requests`}>
					<Amount value={today === undefined ? "0" : sumOf([today.usd, today.bundled, today.diem])} />
				</Figure>
			</Figures>
		</Section>
	);
}

const seconds = (slots: readonly TrafficSlot[]): number[] => slots.map(({ at }) => Date.parse(at) / 1_000);

function Traffic({ overview }: { readonly overview: Overview }) {
	const [span, setSpan] = useState<"minutes" | "hours">("minutes");
	const slots = overview[span];
	const at = seconds(slots);
	return (
		<Section
			title="Traffic"
			actions={
				<Choice
					label="Span"
					value={span}
					onChange={setSpan}
					options={[
						{ value: "minutes", text: "One hour" },
						{ value: "hours", text: "72 hours" },
					]}
				/>
			}
		>
			<div className="columns">
				<Chart
					title={`Requests by ${span === "minutes" ? "minute" : "hour"}`}
					at={at}
					kind="stack"
					axis="clock"
					format={count}
					axisFormat={compact}
					series={[
						{ label: "answered", values: slots.map((slot) => slot.requests - slot.refused - slot.errors), colour: 1 },
						{ label: "refused", values: slots.map(({ refused }) => refused), colour: 2 },
						{ label: "errors", values: slots.map(({ errors }) => errors), colour: 4 },
					]}
				/>
				<Chart
					title={`Latency by ${span === "minutes" ? "minute" : "hour"}`}
					at={at}
					kind="lines"
					axis="clock"
					format={duration}
					series={[
						{ label: "median", values: slots.map(({ latencyMs }) => latencyMs?.p50 ?? null), colour: 1 },
						{ label: "95 %", values: slots.map(({ latencyMs }) => latencyMs?.p95 ?? null), colour: 2 },
						{ label: "99 %", values: slots.map(({ latencyMs }) => latencyMs?.p99 ?? null), colour: 3 },
					]}
				/>
			</div>
		</Section>
	);
}

function Days({ overview: { days } }: { readonly overview: Overview }) {
	const at = days.map(({ day }) => Date.parse(day) / 1_000);
	const total = sumOf(days.flatMap(({ usd, bundled, diem }) => [usd, bundled, diem]));
	const overrun = sumOf(days.map((day) => day.overrun));
	return (
		<>
			<div className="columns">
				<Chart
					title="Charges by day"
					at={at}
					kind="stack"
					axis="days"
					format={dollars}
					axisFormat={shortDollars}
					series={[
						{ label: "USD", values: days.map(({ usd }) => Number(usd)), colour: 1 },
						{ label: "bundled", values: days.map(({ bundled }) => Number(bundled)), colour: 2 },
						{ label: "diem", values: days.map(({ diem }) => Number(diem)), colour: 3 },
					]}
				/>
				<Chart
					title="Metered requests by day"
					at={at}
					kind="stack"
					axis="days"
					format={count}
					axisFormat={compact}
					series={[{ label: "requests", values: days.map(({ requests }) => requests), colour: 6 }]}
				/>
			</div>
			<p className="quiet">
				{count(days.reduce((sum, { requests }) => sum + requests, 0))} metered requests, ${amountText(total)} charged
				{isZero(overrun) ? "" : `, $${amountText(overrun)} that customers could not pay`}.
			</p>
		</>
	);
}

function Node({ overview: { node, journal, upstreams, books } }: { readonly overview: Overview }) {
	return (
		<Section title="This node">
			<div className="columns">
				<dl className="sheet sheet-pad facts">
					<dt>Node</dt>
					<dd className="mono">{node.id}</dd>
					<dt>Started</dt>
					<dd>
						<Moment at={node.startedAt} />
					</dd>
					<dt>Store</dt>
					<dd>{node.store === "sqlite" ? "SQLite" : "PostgreSQL"}</dd>
					<dt>Memory</dt>
					<dd>{bytes(node.rssBytes)}</dd>
				</dl>
				<dl className="sheet sheet-pad facts">
					<dt>Upstreams</dt>
					<dd>
						<State tone={upstreams.out > 0 ? "bad" : upstreams.trial > 0 ? "warn" : "good"}>
							{upstreams.up} up, {upstreams.trial} on trial, {upstreams.out} out
						</State>
					</dd>
					<dt>Journal</dt>
					<dd>
						{count(journal.writtenSeq - journal.appliedSeq)} records ({bytes(journal.backlogBytes)}) not in the store yet
					</dd>
					<dt>Books</dt>
					<dd>
						{books.report === null ? (
							<span className="quiet">not audited since the start of this node</span>
						) : (
							<State tone={books.report.ok ? "good" : "bad"}>{books.report.ok ? "balanced" : "out of balance"}</State>
						)}
					</dd>
					<dt>Log level</dt>
					<dd>{node.logLevel}</dd>
				</dl>
			</div>
		</Section>
	);
}
