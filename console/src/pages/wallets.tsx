import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Reconciliation, TopUpRow, TopUpState, WalletRow } from "../../../src/routes/console/types.ts";
import { call } from "../api/call.ts";
import { queries } from "../api/queries.ts";
import { amountText } from "../format/amount.ts";
import { count } from "../format/quantity.ts";
import { Amount } from "../parts/amount.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { Hash } from "../parts/hash.tsx";
import { Empty, Loaded } from "../parts/loaded.tsx";
import { LongTable } from "../parts/long-table.tsx";
import { Moment } from "../parts/moment.tsx";
import { Figure, Figures, Page, Section } from "../parts/page.tsx";
import { State, type Tone } from "../parts/state.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { TaskLine } from "../parts/task-line.tsx";
import { useSearchTexts } from "../parts/use-search-texts.ts";
import { useSettled } from "../parts/use-settled.ts";

const TABS = ["top-ups", "wallets", "reconcile"] as const;
type Tab = (typeof TABS)[number];
const TOP_UP_STATES = ["settling", "unknown", "credited", "failed"] as const satisfies readonly TopUpState[];
const TONES: Readonly<Record<TopUpState, Tone>> = { settling: "warn", unknown: "bad", credited: "good", failed: "off" };

/** Wallets, their payments, and whether the chain agrees. */
export function WalletsPage(): ReactNode {
	const [{ tab }, change] = useSearchTexts("tab", "search", "state");
	return (
		<Page title="Wallets and top-ups" says="Wallets that pay over x402 without an account, and the outcome of each payment.">
			<Tabs<Tab>
				label="Wallets and top-ups"
				value={TABS.find((name) => name === tab) ?? "top-ups"}
				onChange={(next) => change({ tab: next === "top-ups" ? "" : next, search: "", state: "" })}
				tabs={[
					{ value: "top-ups", text: "Top-ups", panel: () => <TopUps /> },
					{ value: "wallets", text: "Wallets", panel: () => <Wallets /> },
					{ value: "reconcile", text: "Reconcile", panel: () => <Reconcile /> },
				]}
			/>
		</Page>
	);
}

const topUpColumns: readonly Column<TopUpRow>[] = [
	{ name: "When", cell: ({ createdAt }) => <Moment at={createdAt} /> },
	{
		name: "State",
		cell: ({ state, reason }) => (
			<>
				<State tone={TONES[state]}>{state}</State>
				{reason === null ? null : <span className="sub break">{reason}</span>}
			</>
		),
	},
	{ name: "Amount", kind: "number", cell: ({ amountUsd }) => <Amount value={amountUsd} /> },
	{ name: "Network", cell: ({ network }) => network },
	{ name: "Payer", cell: ({ payer }) => <Hash value={payer} /> },
	{
		name: "Transaction",
		cell: ({ transaction }) => <Hash value={transaction} />,
	},
	{ name: "Account", cell: ({ accountId }) => <AccountLink id={accountId} /> },
	{ name: "Ended", cell: ({ endedAt }) => <Moment at={endedAt} none="not yet" /> },
];

function AccountLink({ id }: { readonly id: string | null }) {
	if (id === null) return <span className="quiet">none</span>;
	return (
		<Link to="/accounts/$accountId" params={{ accountId: id }} className="hash" title={id}>
			{id}
		</Link>
	);
}

function TopUps() {
	const [{ state = "", search = "" }, change] = useSearchTexts("tab", "search", "state");
	const payer = useSettled(search);
	const query = useInfiniteQuery(queries.topUps({ state, payer }));
	return (
		<div className="section">
			<div className="inline-fields">
				<SelectField
					label="State"
					value={TOP_UP_STATES.find((name) => name === state) ?? "any"}
					onChange={(next) => change({ state: next === "any" ? "" : next })}
					options={[{ value: "any", text: "any" }, ...TOP_UP_STATES.map((value) => ({ value, text: value }))]}
				/>
				<Search label="Payer" />
			</div>
			<LongTable
				label="Top-ups"
				columns={topUpColumns}
				query={query}
				rowKey={({ id }) => id}
				empty={<Empty title="No top-ups">Wallets can pay once x402 is configured.</Empty>}
			/>
		</div>
	);
}

function Search({ label }: { readonly label: string }) {
	const [{ search = "" }, change] = useSearchTexts("tab", "search", "state");
	return (
		<TextField
			label={label}
			type="search"
			placeholder="0x…"
			value={search}
			onChange={(text) => change({ search: text.trim() })}
		/>
	);
}

const walletColumns: readonly Column<WalletRow>[] = [
	{ name: "Wallet", cell: ({ identity }) => <Hash value={identity} /> },
	{ name: "State", cell: ({ disabled }) => <State tone={disabled ? "bad" : "good"}>{disabled ? "disabled" : "active"}</State> },
	{ name: "Balance", kind: "number", cell: ({ balanceUsd }) => <Amount value={balanceUsd} /> },
	{ name: "Topped up", kind: "number", cell: ({ toppedUpUsd }) => <Amount value={toppedUpUsd} /> },
	{ name: "Top-ups", kind: "number", cell: ({ topUps }) => count(topUps) },
	{ name: "Account", cell: ({ accountId }) => <AccountLink id={accountId} /> },
	{ name: "Since", cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

function Wallets() {
	const [{ search = "" }] = useSearchTexts("search");
	const settled = useSettled(search);
	const query = useInfiniteQuery(queries.wallets({ search: settled }));
	return (
		<div className="section">
			<div className="inline-fields">
				<Search label="Address" />
			</div>
			<LongTable
				label="Wallets"
				columns={walletColumns}
				query={query}
				rowKey={({ accountId }) => accountId}
				empty={<Empty title={search === "" ? "No wallet has paid yet" : "No wallet matches"} />}
			/>
		</div>
	);
}

function Reconcile() {
	const client = useQueryClient();
	const [asking, setAsking] = useState(false);
	const query = useQuery(queries.reconciliation());
	const start = useMutation({
		mutationFn: () => call<Reconciliation>("/reconcile", { method: "POST" }),
		onSuccess: async (state) => {
			client.setQueryData(queries.reconciliation().queryKey, state);
			await client.invalidateQueries({ queryKey: ["top-ups"] });
		},
	});
	return (
		<Section
			title="Reconcile with the chain"
			says="Looks up every unfinished payment on the chain and finishes it, and compares all credits with the transfers that arrived."
			actions={
				<button
					type="button"
					className="button button-main"
					disabled={query.data?.state === "running"}
					onClick={() => setAsking(true)}
				>
					{query.data?.state === "running" ? "Reconciling…" : "Reconcile now"}
				</button>
			}
		>
			<Loaded query={query}>
				{(task) => (
					<>
						<TaskLine task={task} what="reconciliation" />
						{task.report === null ? (
							<Empty title="Not reconciled since the start of this node" />
						) : (
							<Report report={task.report} />
						)}
					</>
				)}
			</Loaded>
			<Confirm
				open={asking}
				onClose={() => setAsking(false)}
				title="Reconcile now?"
				says="Payments that the chain proves are credited, and payments that can no longer arrive are marked as failed. This reads from the chain's node for some time."
				verb="Reconcile"
				run={async () => {
					await start.mutateAsync();
				}}
			/>
		</Section>
	);
}

function Report({ report }: { readonly report: NonNullable<Reconciliation["report"]> }) {
	const credited = Object.entries(report.creditedUsd);
	return (
		<>
			<Figures>
				{TOP_UP_STATES.map((state) => (
					<Figure key={state} name={`Checked: ${state}`}>
						{count(report.checked[state])}
					</Figure>
				))}
				{credited.map(([network, amount]) => (
					<Figure key={network} name={`Credited on ${network}`}>
						${amountText(amount)}
					</Figure>
				))}
			</Figures>
			{report.discrepancies.length === 0 ? (
				<p>
					<State tone="good">The chain and the books agree.</State>
				</p>
			) : (
				<Table
					label="Differences"
					rows={report.discrepancies}
					rowKey={({ paymentId, finding }) => `${paymentId} ${finding}`}
					columns={[
						{ name: "Payment", cell: ({ paymentId }) => <Hash value={paymentId} /> },
						{ name: "Finding", cell: ({ finding }) => <span className="break">{finding}</span> },
						{ name: "State", cell: ({ state }) => <State tone={TONES[state]}>{state}</State> },
						{ name: "Network", cell: ({ network }) => network },
						{ name: "Payer", cell: ({ payer }) => <Hash value={payer} /> },
						{ name: "Transaction", cell: ({ transaction }) => <Hash value={transaction} /> },
					]}
				/>
			)}
		</>
	);
}
