import { amountParts, amountText } from "../format/amount.ts";

/** An exact amount; the places after the cents are de-emphasised. */
export function Amount({ value, unit = "$" }: { readonly value: string | null; readonly unit?: "$" | "diem" }) {
	if (value === null) return <span className="quiet">none</span>;
	const { sign, whole, cents, tail } = amountParts(value);
	return (
		<span title={unit === "$" ? `${amountText(value)} USD` : `${amountText(value)} diem`}>
			{sign}
			{unit === "$" ? "$" : ""}
			{whole}
			{cents}
			{tail === "" ? null : <span className="tail">{tail}</span>}
			{unit === "diem" ? <span className="tail"> diem</span> : null}
		</span>
	);
}
