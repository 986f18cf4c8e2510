import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Account, NewAccount } from "../../../src/routes/console/types.ts";
import { TIERS } from "../accounts/tiers.ts";
import { call } from "../api/call.ts";
import { queries } from "../api/queries.ts";
import { isZero } from "../format/amount.ts";
import { Amount } from "../parts/amount.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { Empty, Fault } from "../parts/loaded.tsx";
import { LongTable } from "../parts/long-table.tsx";
import { Moment } from "../parts/moment.tsx";
import { Page } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import type { Column } from "../parts/table.tsx";
import { say } from "../parts/toasts.tsx";
import { useSearchTexts } from "../parts/use-search-texts.ts";
import { useSettled } from "../parts/use-settled.ts";

const columns: readonly Column<Account>[] = [
	{
		name: "Account",
		cell: ({ id, name, operator }) => (
			<>
				<Link to="/accounts/$accountId" params={{ accountId: id }} className="break">
					{name === "" ? id : name}
				</Link>{" "}
				{operator ? <span className="tag">operator</span> : null}
				<span className="sub mono">{id}</span>
			</>
		),
	},
	{ name: "State", cell: ({ disabled }) => <State tone={disabled ? "bad" : "good"}>{disabled ? "disabled" : "active"}</State> },
	{ name: "Tier", cell: ({ tier }) => tier },
	{ name: "USD", kind: "number", cell: ({ balanceUsd }) => <Amount value={balanceUsd} /> },
	{ name: "Bundled", kind: "number", cell: ({ bundledUsd }) => quietZero(bundledUsd, "$") },
	{ name: "Diem today", kind: "number", cell: ({ diemToday }) => quietZero(diemToday, "diem") },
	{ name: "Created", cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

const quietZero = (amount: string, unit: "$" | "diem") =>
	isZero(amount) ? <span className="quiet">0</span> : <Amount value={amount} unit={unit} />;

/** All accounts, and a form for a new one. */
export function AccountsPage(): ReactNode {
	const [{ search = "" }, change] = useSearchTexts("search");
	const [making, setMaking] = useState(false);
	const settled = useSettled(search);
	const query = useInfiniteQuery(queries.accounts({ search: settled }));
	return (
		<Page
			title="Accounts"
			says="Each account has its own balance, and keys that spend it."
			actions={
				<button type="button" className="button button-main" onClick={() => setMaking(true)}>
					New account
				</button>
			}
		>
			<div className="inline-fields">
				<TextField
					wide
					label="Find"
					type="search"
					placeholder="Name, id or wallet"
					value={search}
					onChange={(text) => change({ search: text })}
				/>
			</div>
			<LongTable
				label="Accounts"
				columns={columns}
				query={query}
				rowKey={({ id }) => id}
				empty={<Empty title={search === "" ? "No accounts" : "No account matches"} />}
			/>
			<Dialog title="New account" open={making} onClose={() => setMaking(false)}>
				<NewAccountForm onClose={() => setMaking(false)} />
			</Dialog>
		</Page>
	);
}

function NewAccountForm({ onClose }: { readonly onClose: () => void }) {
	const client = useQueryClient();
	const navigate = useNavigate();
	const [name, setName] = useState("");
	const [tier, setTier] = useState<Account["tier"]>("paid");
	const [creditUsd, setCreditUsd] = useState("");
	// All attempts of this form share one idempotency key, so a second click creates no second account.
	const [idempotencyKey] = useState(() => crypto.randomUUID());
	const make = useMutation({
		mutationFn: () => {
			const body: NewAccount = { name: name.trim(), tier, ...(creditUsd.trim() === "" ? {} : { creditUsd: creditUsd.trim() }) };
			return call<{ data: Account }>("/accounts", { method: "POST", body, idempotencyKey });
		},
		onSuccess: async ({ data }) => {
			await client.invalidateQueries({ queryKey: ["accounts"] });
			say(`Account ${data.name} was created`);
			onClose();
			await navigate({ to: "/accounts/$accountId", params: { accountId: data.id } });
		},
	});
	return (
		<form
			className="form"
			onSubmit={(event) => {
				event.preventDefault();
				make.mutate();
			}}
		>
			<TextField label="Name" value={name} onChange={setName} required maxLength={256} />
			<div className="form-row">
				<SelectField label="Tier" value={tier} onChange={setTier} options={TIERS} />
				<TextField
					label="Starting credit in USD"
					value={creditUsd}
					onChange={setCreditUsd}
					inputMode="decimal"
					placeholder="0"
					note="At most nine decimals"
				/>
			</div>
			{make.error === null ? null : <Fault error={make.error} />}
			<div className="form-foot">
				<button type="button" className="button" onClick={onClose}>
					Cancel
				</button>
				<button type="submit" className="button button-main" disabled={make.isPending}>
					{make.isPending ? "Please wait…" : "Create account"}
				</button>
			</div>
		</form>
	);
}
