import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Key, KeyFields, KeyRestrictions, LimitPeriod, NewKey } from "../../../src/routes/console/types.ts";
import { AreaField, SelectField, TextField } from "../parts/field.tsx";
import { Fault } from "../parts/loaded.tsx";
import { PERIODS } from "./key-limits.tsx";

const RULES = [
	{ name: "models", label: "Models", note: "One per line" },
	{ name: "endpoints", label: "Endpoints", note: "Names, such as chat or images" },
	{ name: "networks", label: "Networks", note: "Slugs, such as base-mainnet" },
	{ name: "addresses", label: "IP addresses", note: "Addresses or ranges" },
] as const satisfies readonly { name: keyof KeyRestrictions; label: string; note: string }[];

const TYPES = [
	{ value: "INFERENCE", text: "INFERENCE: can spend" },
	{ value: "ADMIN", text: "ADMIN: can also administer" },
] as const;

interface Props {
	/** The key to change; null for a new one. */
	readonly of: Key | null;
	readonly save: (fields: NewKey | KeyFields) => Promise<unknown>;
	readonly onClose: () => void;
}

/** Parses a typed limit; an empty text is no limit. Throws a readable error if it is not a number. */
function limitOf(text: string, label: string): number | null {
	const trimmed = text.trim();
	if (trimmed === "") return null;
	if (!/^\d{1,10}(\.\d{1,9})?$/.test(trimmed))
		throw new Error(`${label}: expected a number of 0 or more, with at most nine decimals`);
	return Number(trimmed);
}

const linesOf = (text: string): string[] | null => {
	const lines = text.split(/[\n,]/).flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
	return lines.length === 0 ? null : lines;
};

/** Creates or changes a key: description, limits, expiry and rules. */
export function KeyForm({ of, save, onClose }: Props) {
	const [type, setType] = useState<Key["apiKeyType"]>("INFERENCE");
	const [description, setDescription] = useState(of?.description ?? "");
	const [usd, setUsd] = useState(of?.consumptionLimits.usd?.toString() ?? "");
	const [diem, setDiem] = useState(of?.consumptionLimits.diem?.toString() ?? "");
	const [period, setPeriod] = useState<LimitPeriod>(of?.limitPeriod ?? "EPOCH");
	const [expiresAt, setExpiresAt] = useState(of?.expiresAt?.slice(0, 10) ?? "");
	const [rules, setRules] = useState<Readonly<Record<string, string>>>(() =>
		Object.fromEntries(RULES.map(({ name }) => [name, of?.restrictions?.[name]?.join("\n") ?? ""])),
	);
	const saving = useMutation({
		mutationFn: async () => {
			const restrictions = Object.fromEntries(RULES.map(({ name }) => [name, linesOf(rules[name] ?? "")]));
			const ruled = Object.values(restrictions).some((lines) => lines !== null);
			const fields: KeyFields = {
				description: description.trim(),
				consumptionLimit: { usd: limitOf(usd, "USD"), diem: limitOf(diem, "Diem") },
				limitPeriod: period,
				// An unchanged day keeps its time.
				...(expiresAt === (of?.expiresAt?.slice(0, 10) ?? "") ? {} : { expiresAt: expiresAt === "" ? null : expiresAt }),
				...(ruled || of?.restrictions ? { restrictions: ruled ? restrictions : null } : {}),
			};
			await save(of === null ? { ...fields, apiKeyType: type } : fields);
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
			<TextField label="Description" value={description} onChange={setDescription} maxLength={256} />
			{of === null ? <SelectField label="Type" value={type} onChange={setType} options={TYPES} /> : null}
			<div className="form-row">
				<TextField label="Limit in USD" value={usd} onChange={setUsd} inputMode="decimal" placeholder="no limit" />
				<TextField label="Limit in diem" value={diem} onChange={setDiem} inputMode="decimal" placeholder="no limit" />
				<SelectField
					label="Period"
					value={period}
					onChange={setPeriod}
					options={(["EPOCH", "MONTH", "LIFETIME"] as const).map((value) => ({ value, text: PERIODS[value] }))}
				/>
			</div>
			<TextField
				label="Ends on (00:00 UTC)"
				type="date"
				value={expiresAt}
				onChange={setExpiresAt}
				note="Leave empty for no end"
			/>
			<details>
				<summary>Restrictions</summary>
				<div className="form-row form-below">
					{RULES.map(({ name, label, note }) => (
						<AreaField
							key={name}
							label={label}
							note={note}
							rows={3}
							mono
							value={rules[name] ?? ""}
							placeholder="any"
							onChange={(text) => setRules({ ...rules, [name]: text })}
						/>
					))}
				</div>
			</details>
			{saving.error === null ? null : <Fault error={saving.error} />}
			<div className="form-foot">
				<button type="button" className="button" onClick={onClose}>
					Cancel
				</button>
				<button type="submit" className="button button-main" disabled={saving.isPending}>
					{saving.isPending ? "Please wait…" : of === null ? "Create key" : "Save"}
				</button>
			</div>
		</form>
	);
}
