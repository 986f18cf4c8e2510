import { localTime, utcTime } from "../format/instant.ts";

/** An instant in the reader's time, with UTC in its title. */
export function Moment({ at, none = "never" }: { readonly at: string | null; readonly none?: string }) {
	if (at === null) return <span className="quiet">{none}</span>;
	return (
		<time dateTime={at} title={utcTime(at)} className="once">
			{localTime(at)}
		</time>
	);
}
