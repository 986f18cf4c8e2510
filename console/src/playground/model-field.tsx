import { useQuery } from "@tanstack/react-query";
import { queries } from "../api/queries.ts";
import { TextField } from "../parts/field.tsx";

interface ModelFieldProps {
	/** The type of the suggested models. */
	readonly type: string;
	readonly value: string;
	readonly onChange: (model: string) => void;
}

/** A model name: online models are suggested, any other can be typed. */
export function ModelField({ type, value, onChange }: ModelFieldProps) {
	const { data } = useQuery(queries.models());
	const offered = (data?.models ?? []).filter((model) => model.type === type && model.online).map(({ id }) => id);
	return (
		<TextField
			label="Model"
			value={value}
			onChange={onChange}
			choices={offered}
			required
			note={data === undefined ? undefined : `${offered.length} online, you can type any name`}
		/>
	);
}
