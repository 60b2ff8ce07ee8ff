/// The colours that the pages make of the owner's one colour, so that everything can be read in light and in dark.
///
/// The owner's colour stays as it is wherever it can be read; otherwise its lightness changes until it can, and its hue
/// never does. Text has a contrast of at least 4.5 : 1 to whatever the pages put it on (WCAG 1.4.3).
public struct AccentScheme: Sendable, Hashable {
    /// What is used on light pages.
    public let light: Shades
    /// What is used on dark pages.
    public let dark: Shades

    /// The shades of one kind of pages.
    public struct Shades: Sendable, Hashable {
        /// Links, and the ground of the main button.
        public let accent: AccentColor
        /// The ground of the main button under the pointer.
        public let strong: AccentColor
        /// Words on both.
        public let ink: AccentColor
        /// The ground of marks and badges.
        public let tint: AccentColor
        /// Words and signs on it.
        public let tintInk: AccentColor
    }

    /// The least contrast of text to its ground.
    package static let leastContrast = 4.5
    /// The grounds on which links stand on light pages, as the stylesheet has them: `--paper`, `--wash`, `--ground`.
    package static let lightGrounds = [(255, 255, 255), (244, 246, 250), (236, 239, 245)].map(
        AccentColor.init(channels:))
    /// The same on dark pages.
    package static let darkGrounds = [(26, 29, 37), (35, 39, 50), (14, 16, 21)].map(AccentColor.init(channels:))

    /// Derives the shades of a colour.
    public init(_ color: AccentColor) {
        let hue = OKLab(color)
        let white = AccentColor(channels: (255, 255, 255))
        let lightAccent = Self.readable(color, on: Self.lightGrounds, by: -1)
        let lightTint = hue.with(lightness: 0.945, chroma: 0.035).color
        light = Shades(
            accent: lightAccent,
            strong: Self.shifted(lightAccent, by: OKLab(lightAccent).lightness > 0.3 ? -0.08 : 0.2),
            ink: white,
            tint: lightTint,
            tintInk: Self.readable(hue.with(lightness: 0.44, chroma: 0.16).color, on: [lightTint], by: -1)
        )
        let darkAccent = Self.readable(color, on: Self.darkGrounds, by: 1)
        let darkTint = hue.with(lightness: 0.31, chroma: 0.05).color
        dark = Shades(
            accent: darkAccent,
            strong: Self.shifted(darkAccent, by: OKLab(darkAccent).lightness < 0.93 ? 0.06 : -0.08),
            ink: hue.with(lightness: 0.2, chroma: 0.05).color,
            tint: darkTint,
            tintInk: Self.readable(hue.with(lightness: 0.82, chroma: 0.1).color, on: [darkTint], by: 1)
        )
    }

    /// A colour, darker or lighter until it can be read on every one of some grounds.
    private static func readable(_ color: AccentColor, on grounds: [AccentColor], by direction: Double) -> AccentColor {
        var shade = color
        var lab = OKLab(color)
        // At the end stands black or white, which can be read on all of them.
        while !grounds.allSatisfy({ shade.contrast(to: $0) >= leastContrast }), (0...1).contains(lab.lightness) {
            lab.lightness += 0.005 * direction
            shade = lab.color
        }
        return shade
    }

    private static func shifted(_ color: AccentColor, by step: Double) -> AccentColor {
        var lab = OKLab(color)
        lab.lightness += step
        return lab.color
    }
}

extension AccentColor {
    /// The contrast to another colour, from 1 to 21 (WCAG 2.2, "contrast ratio").
    package func contrast(to other: AccentColor) -> Double {
        let (one, two) = (luminance, other.luminance)
        return (max(one, two) + 0.05) / (min(one, two) + 0.05)
    }

    private var luminance: Double {
        let (red, green, blue) = linear
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}
