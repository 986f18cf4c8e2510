import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Account, AccountChanges, MoneyEntry } from "../../../src/routes/console/types.ts";
import { AccountForm } from "../accounts/account-form.tsx";
import { AccountKeys } from "../accounts/account-keys.tsx";
import { MoneyDialog, type MoneyKind } from "../accounts/money-dialog.tsx";
import { call } from "../api/call.ts";
import { queries } from "../api/queries.ts";
import { amountText } from "../format/amount.ts";
import { Amount } from "../parts/amount.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Confirm, Dialog } from "../parts/dialog.tsx";
import { Hash } from "../parts/hash.tsx";
import { Empty, Loaded } from "../parts/loaded.tsx";
import { LongTable } from "../parts/long-table.tsx";
import { Moment } from "../parts/moment.tsx";
import { Figure, Figures, Page, Section } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import type { Column } from "../parts/table.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { say } from "../parts/toasts.tsx";

/** One account: its money, its keys, and manual credits and debits. */
export function AccountPage(): ReactNode {
	const { accountId = "" } = useParams({ strict: false });
	const query = useQuery(queries.account(accountId));
	const account = query.data?.data;
	return (
		<Page
			title={account === undefined ? "Account" : account.name === "" ? account.id : account.name}
			says={
				<>
					<span className="mono">{accountId}</span> <CopyButton text={accountId} what="the account's id" />
				</>
			}
			actions={account === undefined ? undefined : <Actions account={account} />}
		>
			<Loaded query={query}>
				{({ data }) => (
					<>
						<Facts account={data} />
						<AccountKeys account={data} />
						<BookedByHand account={data} />
					</>
				)}
			</Loaded>
		</Page>
	);
}

type Open = MoneyKind | "edit" | "disable" | null;

function Actions({ account }: { readonly account: Account }) {
	const client = useQueryClient();
	const [open, setOpen] = useState<Open>(null);
	const change = useMutation({
		mutationFn: (body: AccountChanges) => call(`/accounts/${encodeURIComponent(account.id)}`, { method: "PATCH", body }),
		onSuccess: () =>
			Promise.all([
				client.invalidateQueries({ queryKey: ["account", account.id] }),
				client.invalidateQueries({ queryKey: ["accounts"] }),
				client.invalidateQueries({ queryKey: ["keys"] }),
			]),
	});
	const close = () => setOpen(null);
	return (
		<>
			<button type="button" className="button button-main" onClick={() => setOpen("credit")}>
				Credit
			</button>
			<button type="button" className="button" onClick={() => setOpen("debit")}>
				Debit
			</button>
			<button type="button" className="button" onClick={() => setOpen("refund")}>
				Refund
			</button>
			<button type="button" className="button" onClick={() => setOpen("edit")}>
				Change
			</button>
			<button type="button" className={account.disabled ? "button" : "button button-danger"} onClick={() => setOpen("disable")}>
				{account.disabled ? "Enable" : "Disable"}
			</button>
			<MoneyDialog
				kind={open === "credit" || open === "debit" || open === "refund" ? open : null}
				account={account}
				onClose={close}
			/>
			<Dialog title="Change account" open={open === "edit"} onClose={close}>
				<AccountForm account={account} save={change.mutateAsync} onClose={close} />
			</Dialog>
			<Confirm
				open={open === "disable"}
				onClose={close}
				danger={!account.disabled}
				title={account.disabled ? `Enable ${account.name}?` : `Disable ${account.name}?`}
				says={
					account.disabled
						? "Its keys work again, starting with the next request."
						: "All its keys get 403, starting with the next request. Its money and its keys do not change."
				}
				verb={account.disabled ? "Enable account" : "Disable account"}
				run={async () => {
					await change.mutateAsync({ disabled: !account.disabled });
					say(account.disabled ? "The account is enabled" : "The account is disabled");
				}}
			/>
		</>
	);
}

function Facts({ account }: { readonly account: Account }) {
	return (
		<>
			<Figures>
				<Figure name="USD">
					<Amount value={account.balanceUsd} />
				</Figure>
				<Figure name="Bundled credit">
					<Amount value={account.bundledUsd} />
				</Figure>
				<Figure
					name="Diem left today"
					note={`of ${amountText(account.stakeDiemToday)} a day, ${account.stakeSource === "chain" ? "read from the chain" : "set by the operator"}`}
				>
					<Amount value={account.diemToday} unit="diem" />
				</Figure>
				<Figure name="State">
					<State tone={account.disabled ? "bad" : "good"}>{account.disabled ? "disabled" : "active"}</State>
				</Figure>
			</Figures>
			<dl className="sheet sheet-pad facts">
				<dt>Tier</dt>
				<dd>
					{account.tier} {account.operator ? <span className="tag">operator</span> : null}
				</dd>
				<dt>Wallet</dt>
				<dd className="mono">{account.wallet ?? <span className="quiet">none linked</span>}</dd>
				<dt>Diem from tomorrow</dt>
				<dd>
					{account.stakeDiemNext === null ? (
						<span className="quiet">as today</span>
					) : (
						<Amount value={account.stakeDiemNext} unit="diem" />
					)}
				</dd>
				<dt>Created</dt>
				<dd>
					<Moment at={account.createdAt} />
				</dd>
				<dt>See also</dt>
				<dd>
					<Link to="/usage" search={{ accountId: account.id, by: "day" }}>
						Usage
					</Link>{" "}
					·{" "}
					<Link to="/refusals" search={{ accountId: account.id }}>
						Refused by limits
					</Link>
				</dd>
			</dl>
		</>
	);
}

const moneyColumns: readonly Column<MoneyEntry>[] = [
	{ name: "When", cell: ({ createdAt }) => <Moment at={createdAt} /> },
	{
		name: "Amount",
		kind: "number",
		cell: ({ amount, currency }) => <Amount value={amount} unit={currency === "DIEM" ? "diem" : "$"} />,
	},
	{
		name: "Balance after",
		kind: "number",
		cell: ({ balance, currency }) => <Amount value={balance} unit={currency === "DIEM" ? "diem" : "$"} />,
	},
	{ name: "Currency", cell: ({ currency }) => currency.replaceAll("_", " ").toLowerCase() },
	{ name: "Reference", cell: ({ reference }) => <Hash value={reference} /> },
	{
		name: "Request",
		cell: ({ requestId }) =>
			requestId === undefined ? (
				<span className="quiet">none</span>
			) : (
				<Link to="/requests" search={{ id: requestId }} className="mono">
					{requestId.slice(0, 8)}…
				</Link>
			),
	},
];

const KINDS = ["credits", "debits", "refunds"] as const;

function BookedByHand({ account }: { readonly account: Account }) {
	const [kind, setKind] = useState<(typeof KINDS)[number]>("credits");
	return (
		<Section title="Manual bookings">
			<Tabs
				label="Kind of booking"
				value={kind}
				onChange={setKind}
				tabs={KINDS.map((value) => ({
					value,
					text: value.charAt(0).toUpperCase() + value.slice(1),
					panel: () => <Entries id={account.id} kind={value} />,
				}))}
			/>
		</Section>
	);
}

function Entries({ id, kind }: { readonly id: string; readonly kind: (typeof KINDS)[number] }) {
	const query = useInfiniteQuery(queries.money(id, kind));
	return (
		<LongTable
			label={kind}
			columns={moneyColumns}
			query={query}
			rowKey={({ reference, currency }) => `${reference} ${currency}`}
			empty={<Empty title={`No ${kind}`} />}
		/>
	);
}
