import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { RefusalRow } from "../../../src/routes/console/types.ts";
import { queries } from "../api/queries.ts";
import { TextField } from "../parts/field.tsx";
import { Hash } from "../parts/hash.tsx";
import { Empty } from "../parts/loaded.tsx";
import { LongTable } from "../parts/long-table.tsx";
import { Moment } from "../parts/moment.tsx";
import { Page } from "../parts/page.tsx";
import type { Column } from "../parts/table.tsx";
import { useSearchTexts } from "../parts/use-search-texts.ts";
import { useSettled } from "../parts/use-settled.ts";

const KINDS: Readonly<Record<RefusalRow["kind"], string>> = {
	RPD: "requests a day",
	RPM: "requests a minute",
	TPM: "tokens a minute",
	FAILED_REQUESTS: "too many failed requests",
	UNSUPPORTED_FEATURE_REQUESTS: "a feature that the model lacks",
};

const columns: readonly Column<RefusalRow>[] = [
	{ name: "When", cell: ({ at }) => <Moment at={at} /> },
	{
		name: "Account",
		cell: ({ account }) => (
			<Link to="/accounts/$accountId" params={{ accountId: account.id }}>
				{account.name === "" ? account.id : account.name}
			</Link>
		),
	},
	{ name: "Limit", cell: ({ kind }) => <span title={kind}>{KINDS[kind]}</span> },
	{ name: "Model or endpoint", cell: ({ modelId }) => <span className="break">{modelId}</span> },
	{ name: "Tier", cell: ({ tier }) => tier },
	{ name: "Key", cell: ({ keyId }) => <Hash value={keyId} /> },
];

/** Recent refusals by limits, with the accounts that hit them. */
export function RefusalsPage(): ReactNode {
	const [{ accountId = "" }, change] = useSearchTexts("accountId");
	const settled = useSettled(accountId);
	const query = useInfiniteQuery(queries.refusals({ accountId: settled }));
	return (
		<Page
			title="Refused by limits"
			says="The last 50 requests of each account that a limit refused. The list is updated once a second."
		>
			<div className="inline-fields">
				<TextField
					label="Account"
					type="search"
					placeholder="acc_…"
					value={accountId}
					onChange={(text) => change({ accountId: text.trim() })}
				/>
			</div>
			<LongTable
				label="Refused requests"
				columns={columns}
				query={query}
				rowKey={({ at, keyId, modelId, kind }) => `${at} ${keyId} ${modelId} ${kind}`}
				empty={<Empty title="No request was refused" />}
			/>
		</Page>
	);
}
