import { utcDay } from "../format/instant.ts";
import { TextField } from "./field.tsx";

interface Range {
	readonly from: string;
	readonly to: string;
}

/** Two UTC days, both inclusive; the second is never before the first. */
export function DayRange({ from, to, onChange }: Range & { readonly onChange: (range: Range) => void }) {
	const change = (next: Range) => {
		if (next.from === "" || next.to === "") return;
		onChange(
			next.from <= next.to ? next : next.from === from ? { from: next.to, to: next.to } : { from: next.from, to: next.from },
		);
	};
	return (
		<fieldset className="inline-fields plain">
			<legend className="unseen">Days (UTC), both included</legend>
			<TextField label="From (UTC)" type="date" value={from} onChange={(day) => change({ from: day, to })} />
			<TextField label="To (UTC)" type="date" value={to} onChange={(day) => change({ from, to: day })} />
			{[7, 30, 90].map((days) => (
				<button key={days} type="button" className="button" onClick={() => onChange({ from: utcDay(1 - days), to: utcDay() })}>
					{days} days
				</button>
			))}
		</fieldset>
	);
}
