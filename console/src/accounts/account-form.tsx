import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Account, AccountChanges } from "../../../src/routes/console/types.ts";
import { SelectField, TextField } from "../parts/field.tsx";
import { Fault } from "../parts/loaded.tsx";
import { say } from "../parts/toasts.tsx";
import { TIERS } from "./tiers.ts";

interface Props {
	readonly account: Account;
	readonly save: (changes: AccountChanges) => Promise<unknown>;
	readonly onClose: () => void;
}

/** Edits an account; sends only the changed fields. */
export function AccountForm({ account, save, onClose }: Props) {
	const [name, setName] = useState(account.name);
	const [tier, setTier] = useState(account.tier);
	const [wallet, setWallet] = useState(account.wallet ?? "");
	const [bundledUsd, setBundledUsd] = useState(account.bundledUsd);
	const [stakeDiem, setStakeDiem] = useState(account.stakeDiemNext ?? account.stakeDiemToday);
	const changes: AccountChanges = {
		...(name === account.name ? {} : { name }),
		...(tier === account.tier ? {} : { tier }),
		...(wallet === (account.wallet ?? "") ? {} : { wallet: wallet.trim() === "" ? null : wallet.trim() }),
		...(bundledUsd === account.bundledUsd ? {} : { bundledUsd: bundledUsd.trim() }),
		...(stakeDiem === (account.stakeDiemNext ?? account.stakeDiemToday) ? {} : { stakeDiem: stakeDiem.trim() }),
	};
	const saving = useMutation({
		mutationFn: () => save(changes),
		onSuccess: () => {
			say("The account was changed");
			onClose();
		},
	});
	return (
		<form
			className="form"
			onSubmit={(event) => {
				event.preventDefault();
				saving.mutate();
			}}
		>
			<div className="form-row">
				<TextField label="Name" value={name} onChange={setName} maxLength={256} />
				<SelectField label="Tier" value={tier} onChange={setTier} options={TIERS} />
			</div>
			<TextField label="Wallet" value={wallet} onChange={setWallet} placeholder="0x…" note="Leave empty to link none" />
			<div className="form-row">
				<TextField label="Bundled credit in USD" value={bundledUsd} onChange={setBundledUsd} inputMode="decimal" />
				{account.stakeSource === "chain" ? null : (
					<TextField label="Diem a day" value={stakeDiem} onChange={setStakeDiem} inputMode="decimal" />
				)}
			</div>
			{saving.error === null ? null : <Fault error={saving.error} />}
			<div className="form-foot">
				<button type="button" className="button" onClick={onClose}>
					Cancel
				</button>
				<button type="submit" className="button button-main" disabled={saving.isPending || Object.keys(changes).length === 0}>
					{saving.isPending ? "Please wait…" : "Save"}
				</button>
			</div>
		</form>
	);
}
