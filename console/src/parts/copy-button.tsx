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
	const [status, setStatus] = useState("");
	const copy = async () => {
		try {
			await navigator.clipboard.writeText(text);
			setStatus("Copied");
		} catch {
			setStatus("Select the text and copy it manually");
		}
		setTimeout(() => setStatus(""), 1_600);
	};
	return (
		<>
			<button
				type="button"
				className="button button-small copy"
				onClick={copy}
				aria-label={status === "" ? `${label} ${what}` : status}
			>
				{status === "" ? label : status}
			</button>
			<span className="unseen" role="status">
				{status}
			</span>
		</>
	);
}
