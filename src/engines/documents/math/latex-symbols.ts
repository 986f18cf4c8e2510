/** Signs of formulas in LaTeX. Source: unicode-math-table of the LaTeX project; other signs stay unchanged. */

const GREEK =
	"α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota κ kappa λ lambda μ mu µ mu ν nu ξ xi π pi ϖ varpi ρ rho ϱ varrho σ sigma ς varsigma τ tau υ upsilon φ varphi ϕ phi χ chi ψ psi ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega";
const SIGNS =
	"± pm ∓ mp × times ÷ div · cdot ⋅ cdot ∗ ast ⋆ star ∘ circ ∙ bullet ≤ le ≥ ge ≪ ll ≫ gg ≠ ne ≈ approx ≡ equiv ≅ cong ∼ sim ≃ simeq ∝ propto ∞ infty ∂ partial ∇ nabla ∈ in ∉ notin ∋ ni ⊂ subset ⊃ supset ⊆ subseteq ⊇ supseteq ∪ cup ∩ cap ∅ emptyset ∀ forall ∃ exists ¬ neg ∧ wedge ∨ vee → to ← leftarrow ↔ leftrightarrow ⇒ Rightarrow ⇐ Leftarrow ⇔ Leftrightarrow ↦ mapsto … ldots ⋯ cdots ⋮ vdots ⋱ ddots ℏ hbar ℓ ell ℜ Re ℑ Im ℵ aleph ∠ angle ⊥ perp ∥ parallel ∣ mid ⊕ oplus ⊗ otimes ⊙ odot † dagger ′ prime ∴ therefore ∵ because ⟨ langle ⟩ rangle ⌊ lfloor ⌋ rfloor ⌈ lceil ⌉ rceil ‖ Vert ∑ sum ∏ prod ∐ coprod ∫ int ∬ iint ∭ iiint ∮ oint ⋃ bigcup ⋂ bigcap ⋁ bigvee ⋀ bigwedge ⨁ bigoplus ⨂ bigotimes √ surd";
const ESCAPED = "{}%$#&_";
const OTHERS: readonly (readonly [sign: string, latex: string])[] = [
	["\\", "\\backslash"],
	["^", "\\hat{}"],
	["~", "\\sim"],
	["−", "-"],
	["\u2061", ""],
	["\u200b", ""],
	["\u2062", ""],
	["\u00a0", " "],
];

const pairs = (list: string): (readonly [string, string])[] => {
	const words = list.split(" ");
	return words.flatMap((sign, index) => (index % 2 === 0 ? [[sign, `\\${words[index + 1]}`] as const] : []));
};

/** Sign -> LaTeX. */
export const LATEX_SIGNS: ReadonlyMap<string, string> = new Map([
	...pairs(GREEK),
	...pairs(SIGNS),
	...[...ESCAPED].map((sign) => [sign, `\\${sign}`] as const),
	...OTHERS,
]);

/** Functions with a command of their own. */
export const LATEX_FUNCTIONS: ReadonlySet<string> = new Set(
	"sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan exp log ln lg lim limsup liminf max min sup inf det dim ker gcd arg deg hom Pr".split(
		" ",
	),
);

/** Accents, and characters above or below (ECMA-376 part 1, 22.1.2.20). */
export const LATEX_ACCENTS: ReadonlyMap<string, string> = new Map([
	["\u0300", "grave"],
	["\u0301", "acute"],
	["\u0302", "hat"],
	["^", "hat"],
	["\u0303", "tilde"],
	["~", "tilde"],
	["\u0304", "bar"],
	["\u0305", "overline"],
	["¯", "overline"],
	["\u0306", "breve"],
	["\u0307", "dot"],
	["\u0308", "ddot"],
	["\u030a", "mathring"],
	["\u030c", "check"],
	["\u20d6", "overleftarrow"],
	["\u20d7", "vec"],
	["\u20e1", "overleftrightarrow"],
	["→", "vec"],
	["⏞", "overbrace"],
	["⏟", "underbrace"],
	["\u0332", "underline"],
]);
