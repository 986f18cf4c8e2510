import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Account } from "../../../src/routes/console/types.ts";
import { call } from "../api/call.ts";
import { amountText } from "../format/amount.ts";
import { Dialog } from "../parts/dialog.tsx";
import { TextField } from "../parts/field.tsx";
import { Fault } from "../parts/loaded.tsx";
import { say } from "../parts/toasts.tsx";

export type MoneyKind = "credit" | "debit" | "refund";

const WORDS: Readonly<Record<MoneyKind, { readonly title: string; readonly says: string; readonly done: string }>> = {
	credit: { title: "Credit", says: "Adds USD to the account.", done: "credited" },
	debit: { title: "Debit", says: "Takes free USD back. Money held by running requests stays.", done: "debited" },
	refund: {
		title: "Refund a request",
		says: "Returns the charge of a request to the sources that paid. All refunds of a request together are at most its price.",
		done: "refunded",
	},
};

interface Props {
	readonly kind: MoneyKind | null;
	readonly account: Account;
	readonly onClose: () => void;
}

/** Posts a credit or debit by hand, once: the reference is sent as the Idempotency-Key, so a second click changes nothing. */
export function MoneyDialog({ kind, account, onClose }: Props) {
	const words = WORDS[kind ?? "credit"];
	return (
		<Dialog
			title={kind === "refund" ? words.title : `${words.title} ${account.name === "" ? account.id : account.name}`}
			says={words.says}
			open={kind !== null}
			onClose={onClose}
		>
			{kind === null ? null : <MoneyForm kind={kind} account={account} onClose={onClose} />}
		</Dialog>
	);
}

function MoneyForm({ kind, account, onClose }: Props & { readonly kind: MoneyKind }) {
	const client = useQueryClient();
	const [amountUsd, setAmountUsd] = useState("");
	const [requestId, setRequestId] = useState("");
	const [reference, setReference] = useState(() => `console-${crypto.randomUUID()}`);
	const postEntry = useMutation({
		mutationFn: () =>
			call(`/accounts/${encodeURIComponent(account.id)}/${kind}s`, {
				method: "POST",
				body: { amountUsd: amountUsd.trim(), ...(kind === "refund" ? { requestId: requestId.trim() } : {}) },
				idempotencyKey: reference.trim(),
			}),
		onSuccess: async () => {
			await Promise.all([
				client.invalidateQueries({ queryKey: ["account", account.id] }),
				client.invalidateQueries({ queryKey: ["accounts"] }),
			]);
			say(`$${amountText(amountUsd.trim())} ${WORDS[kind].done}`);
			onClose();
		},
	});
	return (
		<form
			className="form"
			onSubmit={(event) => {
				event.preventDefault();
				postEntry.mutate();
			}}
		>
			{kind === "refund" ? (
				<TextField label="X-Request-ID" value={requestId} onChange={setRequestId} required placeholder="32 characters" />
			) : null}
			<TextField
				label="Amount in USD"
				value={amountUsd}
				onChange={setAmountUsd}
				required
				inputMode="decimal"
				placeholder="12.50"
				note={kind === "debit" ? `The balance is $${amountText(account.balanceUsd)}` : "At most nine decimals"}
			/>
			<TextField
				label="Reference"
				value={reference}
				onChange={setReference}
				required
				note="A unique name for this booking, such as an invoice number. Booking the same reference again changes nothing."
			/>
			{postEntry.error === null ? null : <Fault error={postEntry.error} />}
			<div className="form-foot">
				<button type="button" className="button" onClick={onClose}>
					Cancel
				</button>
				<button
					type="submit"
					className={`button ${kind === "debit" ? "button-danger" : "button-main"}`}
					disabled={postEntry.isPending}
				>
					{postEntry.isPending ? "Please wait…" : WORDS[kind].title}
				</button>
			</div>
		</form>
	);
}
