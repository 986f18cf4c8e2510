import { useState } from "react";
import { Choice } from "../parts/choice.tsx";
import { chooseTheme, type ThemeChoice, themeChoice } from "../theme.ts";

const OPTIONS: readonly { readonly value: ThemeChoice; readonly text: string }[] = [
	{ value: "system", text: "System" },
	{ value: "light", text: "Light" },
	{ value: "dark", text: "Dark" },
];

export function ThemeSwitch() {
	const [choice, setChoice] = useState(themeChoice);
	const change = (next: ThemeChoice) => {
		chooseTheme(next);
		setChoice(next);
	};
	return <Choice label="Theme" value={choice} onChange={change} options={OPTIONS} />;
}
