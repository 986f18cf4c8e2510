import { useQuery } from "@tanstack/react-query";
import type { Account, KeyWithUsage } from "../../../src/routes/console/types.ts";
import { queries } from "../api/queries.ts";
import { sumOf } from "../format/amount.ts";
import { Amount } from "../parts/amount.tsx";
import { Empty, Loaded } from "../parts/loaded.tsx";
import { Moment } from "../parts/moment.tsx";
import { Section } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { KeyActions, NewKeyButton } from "./key-actions.tsx";
import { Limits, restrictionText } from "./key-limits.tsx";

const columnsOf = (accountId: string): readonly Column<KeyWithUsage>[] => [
	{
		name: "Key",
		cell: ({ description, last6Chars, apiKeyType }) => (
			<>
				<span className="break">{description === "" ? <span className="quiet">no description</span> : description}</span>{" "}
				{apiKeyType === "ADMIN" ? <span className="tag">ADMIN</span> : null}
				<span className="sub mono">…{last6Chars}</span>
			</>
		),
		sortBy: ({ description }) => description,
	},
	{
		name: "Limit",
		cell: ({ consumptionLimits, limitPeriod, currentPeriodUsage }) => (
			<Limits limits={consumptionLimits} period={limitPeriod} spentUsd={currentPeriodUsage?.usd} />
		),
	},
	{
		name: "Restrictions",
		cell: (key) => <span className="break">{restrictionText(key) ?? <span className="quiet">none</span>}</span>,
	},
	{
		name: "Last seven days",
		kind: "number",
		cell: ({ usage: { trailingSevenDays: spent } }) => <Amount value={sumOf([spent.usd, spent.diem])} />,
		sortBy: ({ usage: { trailingSevenDays: spent } }) => Number(spent.usd) + Number(spent.diem),
	},
	{ name: "Last used", cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} />, sortBy: ({ lastUsedAt }) => lastUsedAt ?? "" },
	{ name: "Ends", cell: ({ expiresAt }) => <Moment at={expiresAt} />, sortBy: ({ expiresAt }) => expiresAt ?? "9" },
	{ name: "Actions", kind: "actions", cell: (key) => <KeyActions accountId={accountId} of={key} /> },
];

/** The active keys of an account. */
export function AccountKeys({ account }: { readonly account: Account }) {
	const query = useQuery(queries.accountKeys(account.id));
	return (
		<Section title="Keys" actions={<NewKeyButton accountId={account.id} />}>
			<Loaded query={query}>
				{({ data }) =>
					data.length === 0 ? (
						<Empty title="No active keys">Without a key, this account's money cannot be spent.</Empty>
					) : (
						<Table label="Keys" columns={columnsOf(account.id)} rows={data} rowKey={({ id }) => id} />
					)
				}
			</Loaded>
		</Section>
	);
}
