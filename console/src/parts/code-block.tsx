import { CopyButton } from "./copy-button.tsx";

/** Text to read and copy. */
export function CodeBlock({ text, what }: { readonly text: string; readonly what: string }) {
	return (
		<div className="code">
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
			<section tabIndex={0} aria-label={what}>
				<pre>{text}</pre>
			</section>
			<CopyButton text={text} what={what} />
		</div>
	);
}
