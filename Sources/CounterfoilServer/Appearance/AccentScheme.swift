/// The colours that the pages derive from the owner's colour, readable in light and dark mode.
///
/// The owner's colour is used unchanged wherever it is readable. Otherwise its lightness changes until it
/// is; its hue never changes. Text has a contrast of at least 4.5 : 1 to its background (WCAG 1.4.3).
package struct AccentScheme: Sendable, Hashable {
    /// The shades in light mode.
    package let light: Shades
    /// The shades in dark mode.
    package let dark: Shades

    /// The shades of one mode.
    package struct Shades: Sendable, Hashable {
        /// The colour of links, and the background of the main button.
        package let accent: AccentColor
        /// The background of the main button under the pointer.
        package let strong: AccentColor
        /// The text on both backgrounds.
        package let ink: AccentColor
        /// The background of marks and badges.
        package let tint: AccentColor
        /// The text and icons on marks and badges.
        package let tintInk: AccentColor
    }

    /// The minimum contrast of text to its background.
    package static let leastContrast = 4.5
    /// The backgrounds of links in light mode, as in the stylesheet: `--paper`, `--wash`, `--ground`.
    package static let lightGrounds = [(255, 255, 255), (244, 246, 250), (236, 239, 245)].map(
        AccentColor.init(channels:))
    /// The backgrounds of links in dark mode.
    package static let darkGrounds = [(26, 29, 37), (35, 39, 50), (14, 16, 21)].map(AccentColor.init(channels:))

    /// Derives the shades from a colour.
    package init(_ color: AccentColor) {
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

    /// Darkens or lightens a colour until it is readable on every given background.
    private static func readable(_ color: AccentColor, on grounds: [AccentColor], by direction: Double) -> AccentColor {
        var shade = color
        var lab = OKLab(color)
        // The loop ends at black or white at the latest, which are readable on all of them.
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
