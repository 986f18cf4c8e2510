import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { SendRow } from "../../../src/routes/console/types.ts";
import { queries } from "../api/queries.ts";
import { TextField } from "../parts/field.tsx";
import { Hash } from "../parts/hash.tsx";
import { Empty } from "../parts/loaded.tsx";
import { LongTable } from "../parts/long-table.tsx";
import { Moment } from "../parts/moment.tsx";
import { Page } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import type { Column } from "../parts/table.tsx";
import { useSearchTexts } from "../parts/use-search-texts.ts";
import { useSettled } from "../parts/use-settled.ts";

const columns: readonly Column<SendRow>[] = [
	{ name: "Sent", cell: ({ sentAt }) => <Moment at={sentAt} /> },
	{ name: "Network", cell: ({ network }) => network },
	{ name: "Method", cell: ({ method }) => <span className="mono">{method}</span> },
	{
		name: "Outcome",
		cell: ({ outcome }) =>
			outcome === null ? (
				<State tone="warn">not known</State>
			) : (
				<State tone={outcome === "accepted" ? "good" : "bad"}>{outcome}</State>
			),
	},
	{
		name: "Transaction",
		cell: ({ transactionHash, rawHash }) => <Hash value={transactionHash ?? rawHash} />,
	},
	{
		name: "Request",
		cell: ({ requestId, item }) => (
			<>
				<Link to="/requests" search={{ id: requestId }} className="mono">
					{requestId.slice(0, 8)}…
				</Link>
				{item > 0 ? <span className="sub">item {item}</span> : null}
			</>
		),
	},
	{
		name: "Account",
		cell: ({ accountId }) => (
			<Link to="/accounts/$accountId" params={{ accountId }} className="hash" title={accountId}>
				{accountId}
			</Link>
		),
	},
];

/** Transactions that were sent to a chain, including those whose arrival is unknown. */
export function SendsPage(): ReactNode {
	const [search, change] = useSearchTexts("hash", "network", "keyId", "since");
	const settled = useSettled(JSON.stringify(search));
	const query = useInfiniteQuery(queries.sends(JSON.parse(settled)));
	const filter = (name: keyof typeof search) => ({
		value: search[name] ?? "",
		onChange: (text: string) => change({ [name]: text.trim() }),
	});
	return (
		<Page
			title="Sent transactions"
			says="Every transaction that was sent to a chain, by its hashes. It is recorded before it is sent; its content is never kept."
		>
			<div className="inline-fields">
				<TextField label="Hash" type="search" placeholder="0x…" {...filter("hash")} />
				<TextField label="Network" type="search" placeholder="base-mainnet" {...filter("network")} />
				<TextField label="Key" type="search" placeholder="key id" {...filter("keyId")} />
				<TextField label="Since (UTC)" type="date" {...filter("since")} />
			</div>
			<LongTable
				label="Sent transactions"
				columns={columns}
				query={query}
				rowKey={({ requestId, item }) => `${requestId} ${item}`}
				empty={<Empty title="Nothing was sent" />}
			/>
		</Page>
	);
}
