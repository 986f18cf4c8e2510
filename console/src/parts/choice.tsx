import { Toggle } from "@base-ui/react/toggle";
import { ToggleGroup } from "@base-ui/react/toggle-group";

interface ChoiceProps<Value extends string> {
	readonly label: string;
	readonly value: Value;
	readonly onChange: (value: Value) => void;
	readonly options: readonly { readonly value: Value; readonly text: string }[];
}

/** A choice of a few options side by side; the arrow keys move between them. */
export function Choice<Value extends string>({ label, value, onChange, options }: ChoiceProps<Value>) {
	return (
		<ToggleGroup<Value>
			className="segments"
			aria-label={label}
			value={[value]}
			onValueChange={([next]) => (next === undefined ? undefined : onChange(next))}
		>
			{options.map((option) => (
				<Toggle key={option.value} value={option.value} className="segment">
					{option.text}
				</Toggle>
			))}
		</ToggleGroup>
	);
}
