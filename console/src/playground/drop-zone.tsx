import { type DragEvent, useId, useState } from "react";
import { bytes } from "../format/quantity.ts";

interface DropZoneProps {
	readonly label: string;
	readonly note: string;
	/** The `accept` attribute of the input. */
	readonly accept?: string;
	readonly file: File | null;
	readonly onFile: (file: File) => void;
}

/** Accepts a file by drag and drop, or by its button, which a keyboard reaches. */
export function DropZone({ label, note, accept, file, onFile }: DropZoneProps) {
	const id = useId();
	const [over, setOver] = useState(false);
	const dropped = (event: DragEvent) => {
		event.preventDefault();
		setOver(false);
		const [first] = event.dataTransfer.files;
		if (first !== undefined) onFile(first);
	};
	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same by keyboard
		<div
			className={over ? "drop drop-over" : "drop"}
			onDragOver={(event) => {
				event.preventDefault();
				setOver(true);
			}}
			onDragLeave={() => setOver(false)}
			onDrop={dropped}
		>
			<label htmlFor={id}>{label}</label>
			<input
				id={id}
				type="file"
				aria-describedby={`${id}-note`}
				{...(accept === undefined ? {} : { accept })}
				onChange={(event) => {
					const [first] = event.target.files ?? [];
					if (first !== undefined) onFile(first);
				}}
			/>
			<span id={`${id}-note`} className="field-note break">
				{file === null ? note : `${file.name}, ${bytes(file.size)}`}
			</span>
		</div>
	);
}
