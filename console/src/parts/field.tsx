import { type ReactNode, useId } from "react";

interface FieldProps {
	readonly label: string;
	readonly note?: ReactNode;
	readonly fault?: string | undefined;
	/** Takes more space than others in a row of fields. */
	readonly wide?: boolean;
	/** Receives the id for its label, and the id of its note. */
	readonly children: (control: { readonly id: string; readonly "aria-describedby"?: string }) => ReactNode;
}

/** A control with its label, and its note or error. */
export function Field({ label, note, fault, wide = false, children }: FieldProps) {
	const id = useId();
	const hasMessage = note !== undefined || fault !== undefined;
	return (
		<div className={wide ? "field field-wide" : "field"}>
			<label htmlFor={id}>{label}</label>
			{children({ id, ...(hasMessage ? { "aria-describedby": `${id}-note` } : {}) })}
			{hasMessage ? (
				<div id={`${id}-note`} className={fault === undefined ? "field-note" : "field-fault"}>
					{fault ?? note}
				</div>
			) : null}
		</div>
	);
}

interface TextFieldProps {
	readonly label: string;
	readonly note?: ReactNode;
	readonly value: string;
	readonly onChange: (value: string) => void;
	readonly placeholder?: string;
	readonly wide?: boolean;
	readonly type?: "text" | "password" | "search" | "date" | "datetime-local" | "number";
	readonly required?: boolean;
	readonly maxLength?: number;
	readonly autoComplete?: string;
	readonly inputMode?: "decimal" | "numeric" | "text";
	/** Suggested values; others can be typed. */
	readonly choices?: readonly string[];
	/** With `type: number`. */
	readonly range?: { readonly min?: number; readonly max?: number; readonly step?: number };
}

export function TextField({
	label,
	note,
	wide = false,
	value,
	onChange,
	choices,
	range = {},
	type = "text",
	...rest
}: TextFieldProps) {
	const list = useId();
	return (
		<Field label={label} note={note} wide={wide}>
			{(control) => (
				<>
					<input
						{...control}
						{...rest}
						{...range}
						{...(choices === undefined ? {} : { list })}
						type={type}
						className="input"
						value={value}
						spellCheck={false}
						onChange={(event) => onChange(event.target.value)}
					/>
					{choices === undefined ? null : (
						<datalist id={list}>
							{choices.map((choice) => (
								<option key={choice} value={choice} />
							))}
						</datalist>
					)}
				</>
			)}
		</Field>
	);
}

interface AreaFieldProps {
	readonly label: string;
	readonly note?: ReactNode;
	readonly fault?: string | undefined;
	readonly value: string;
	readonly onChange: (value: string) => void;
	readonly rows?: number;
	readonly mono?: boolean;
	readonly placeholder?: string;
}

export function AreaField({ label, note, fault, value, onChange, rows = 4, mono = false, placeholder }: AreaFieldProps) {
	return (
		<Field label={label} note={note} fault={fault}>
			{(control) => (
				<textarea
					{...control}
					className={mono ? "textarea mono" : "textarea"}
					rows={rows}
					value={value}
					placeholder={placeholder}
					spellCheck={!mono}
					onChange={(event) => onChange(event.target.value)}
				/>
			)}
		</Field>
	);
}

interface SelectFieldProps<Value extends string> {
	readonly label: string;
	readonly note?: ReactNode;
	readonly value: Value;
	readonly onChange: (value: Value) => void;
	readonly options: readonly { readonly value: Value; readonly text: string }[];
}

export function SelectField<Value extends string>({ label, note, value, onChange, options }: SelectFieldProps<Value>) {
	return (
		<Field label={label} note={note}>
			{(control) => (
				<select
					{...control}
					className="select"
					value={value}
					onChange={(event) => {
						const chosen = options.find((option) => option.value === event.target.value);
						if (chosen !== undefined) onChange(chosen.value);
					}}
				>
					{options.map((option) => (
						<option key={option.value} value={option.value}>
							{option.text}
						</option>
					))}
				</select>
			)}
		</Field>
	);
}

export function Check({
	label,
	value,
	onChange,
}: {
	readonly label: string;
	readonly value: boolean;
	readonly onChange: (value: boolean) => void;
}) {
	return (
		<label className="check">
			<input type="checkbox" checked={value} onChange={(event) => onChange(event.target.checked)} /> {label}
		</label>
	);
}
