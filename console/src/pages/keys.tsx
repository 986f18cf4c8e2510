import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { KeyRow } from "../../../src/routes/console/types.ts";
import { KeyActions } from "../accounts/key-actions.tsx";
import { Limits } from "../accounts/key-limits.tsx";
import { queries } from "../api/queries.ts";
import { sumOf } from "../format/amount.ts";
import { Amount } from "../parts/amount.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { Empty } from "../parts/loaded.tsx";
import { LongTable } from "../parts/long-table.tsx";
import { Moment } from "../parts/moment.tsx";
import { Page } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import type { Column } from "../parts/table.tsx";
import { useSearchTexts } from "../parts/use-search-texts.ts";
import { useSettled } from "../parts/use-settled.ts";

const TONES = { active: "good", expired: "off", revoked: "bad" } as const;

const columns: readonly Column<KeyRow>[] = [
	{
		name: "Key",
		cell: ({ description, last6Chars, apiKeyType }) => (
			<>
				<span className="break">{description === "" ? <span className="quiet">no description</span> : description}</span>{" "}
				{apiKeyType === "ADMIN" ? <span className="tag">ADMIN</span> : null}
				<span className="sub mono">…{last6Chars}</span>
			</>
		),
	},
	{
		name: "Account",
		cell: ({ account }) => (
			<Link to="/accounts/$accountId" params={{ accountId: account.id }} className="break">
				{account.name === "" ? account.id : account.name}
			</Link>
		),
	},
	{ name: "State", cell: ({ state }) => <State tone={TONES[state]}>{state}</State> },
	{ name: "Limit", cell: ({ consumptionLimits, limitPeriod }) => <Limits limits={consumptionLimits} period={limitPeriod} /> },
	{
		name: "Last seven days",
		kind: "number",
		cell: ({ trailingSevenDays: spent }) => <Amount value={sumOf([spent.usd, spent.diem])} />,
	},
	{ name: "Last used", cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} /> },
	{
		name: "Actions",
		kind: "actions",
		cell: (key) => (key.state === "revoked" ? null : <KeyActions accountId={key.account.id} of={key} />),
	},
];

/** The keys of all accounts. */
export function KeysPage(): ReactNode {
	const [{ search = "", state = "active" }, change] = useSearchTexts("search", "state");
	const settled = useSettled(search);
	const query = useInfiniteQuery(queries.keys({ search: settled, state }));
	return (
		<Page title="Keys" says="The keys of all accounts. To create a key, open its account.">
			<div className="inline-fields">
				<TextField
					wide
					label="Find"
					type="search"
					placeholder="Description, id, last characters, account"
					value={search}
					onChange={(text) => change({ search: text })}
				/>
				<SelectField
					label="State"
					value={state === "all" ? "all" : "active"}
					onChange={(value) => change({ state: value === "active" ? "" : value })}
					options={[
						{ value: "active", text: "active" },
						{ value: "all", text: "all, including ended ones" },
					]}
				/>
			</div>
			<LongTable
				label="Keys"
				columns={columns}
				query={query}
				rowKey={({ id }) => id}
				empty={<Empty title={search === "" ? "No keys" : "No key matches"} />}
			/>
		</Page>
	);
}
