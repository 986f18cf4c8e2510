import { Tabs as Base } from "@base-ui/react/tabs";
import type { ReactNode } from "react";

interface TabsProps<Value extends string> {
	readonly label: string;
	readonly value: Value;
	readonly onChange: (value: Value) => void;
	readonly tabs: readonly { readonly value: Value; readonly text: string; readonly panel: () => ReactNode }[];
}

/** Tabs, of which one panel is shown. */
export function Tabs<Value extends string>({ label, value, onChange, tabs }: TabsProps<Value>) {
	return (
		<Base.Root
			value={value}
			onValueChange={(next: unknown) => {
				const chosen = tabs.find((tab) => tab.value === next);
				if (chosen !== undefined) onChange(chosen.value);
			}}
		>
			<Base.List className="tabs" aria-label={label}>
				{tabs.map((tab) => (
					<Base.Tab key={tab.value} value={tab.value} className="tab">
						{tab.text}
					</Base.Tab>
				))}
			</Base.List>
			{tabs.map((tab) => (
				<Base.Panel key={tab.value} value={tab.value} className="tab-panel">
					{tab.panel()}
				</Base.Panel>
			))}
		</Base.Root>
	);
}
