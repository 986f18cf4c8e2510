import { type FormEvent, type ReactNode, useState } from "react";
import { count } from "../format/quantity.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { Page, Section } from "../parts/page.tsx";
import { DropZone } from "./drop-zone.tsx";
import { Outcome } from "./outcome.tsx";
import { useRun } from "./run.ts";
import { RunButtons } from "./run-buttons.tsx";

interface Parsed {
	readonly text: string;
	readonly tokens: number;
}

/** Extracts the text of a document. */
export function DocumentsPage(): ReactNode {
	const [file, setFile] = useState<File | null>(null);
	const [parsed, setParsed] = useState<Parsed | null>(null);
	const { run, start, stop } = useRun();
	const choose = (next: File) => {
		setFile(next);
		setParsed(null);
	};
	const send = (event: FormEvent) => {
		event.preventDefault();
		if (file === null) return;
		const body = new FormData();
		body.set("file", file);
		void start("/augment/text-parser", body, async (answer) => setParsed((await answer.json()) as Parsed));
	};
	return (
		<Page title="Documents" says="Requests use the key that you signed in with, and the operator's account pays.">
			<div className="play">
				<form className="form" onSubmit={send}>
					<DropZone
						label="Document"
						note="Drop a PDF, an Office file, a mail, a book or any text here, up to 25 MiB"
						file={file}
						onFile={choose}
					/>
					<RunButtons run={run} onStop={stop} ready={file !== null} label="Read" runningLabel="Reading…" />
					<Section title="Text" says={parsed === null ? undefined : `${count(parsed.tokens)} tokens`}>
						{parsed === null ? <p className="quiet">Nothing was read yet.</p> : <CodeBlock text={parsed.text} what="the text" />}
					</Section>
				</form>
				<div className="form">
					<Outcome
						run={run}
						request={{
							path: "/augment/text-parser",
							file: { field: "file", name: file?.name ?? "report.pdf" },
							answer: "json",
						}}
					/>
				</div>
			</div>
		</Page>
	);
}
