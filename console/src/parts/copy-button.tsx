import { useState } from "react";

/** Copies a text, and confirms it for a moment. */
export function CopyButton({
	text,
	label = "Copy",
	what,
}: {
	readonly text: string;
	readonly label?: string;
	readonly what: string;
}) {
	const [said, setSaid] = useState("");
	const copy = async () => {
		try {
			await navigator.clipboard.writeText(text);
			setSaid("Copied");
		} catch {
			setSaid("Select the text and copy it manually");
		}
		setTimeout(() => setSaid(""), 1_600);
	};
	return (
		<>
			<button
				type="button"
				className="button button-small copy"
				onClick={copy}
				aria-label={said === "" ? `${label} ${what}` : said}
			>
				{said === "" ? label : said}
			</button>
			<span className="unseen" role="status">
				{said}
			</span>
		</>
	);
}
