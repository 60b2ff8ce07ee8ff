import CounterfoilServer

/// The drawing of a bar chart: where its bars, lines and labels are.
///
/// Widths are percentages of the chart, and heights are pixels. The chart can so be as narrow as a telephone, and its
/// text keeps its size.
package struct BarChart: Sendable, Hashable {
    /// A bar; a period without events has none.
    package struct Bar: Sendable, Hashable {
        package let left: String
        package let top: String
        package let width: String
        package let height: String
        /// The name of the period with its number, which a pointer shows.
        package let says: String
    }

    /// A horizontal line with its number at the left.
    package struct Tick: Sendable, Hashable {
        package let top: String
        package let label: String
    }

    /// The name of a period below its bar.
    package struct Label: Sendable, Hashable {
        package let middle: String
        package let text: String
    }

    /// A period with its number.
    struct Period {
        let count: Int
        /// The name below the chart.
        let shortName: String
        /// The name with the number of events.
        let says: String
    }

    package let bars: [Bar]
    /// The lines, lowest first.
    package let ticks: [Tick]
    package let labels: [Label]

    /// The width of the numbers at the left, in percent.
    private static let margin = 15.0
    /// The distance of the highest line from the upper end, and of the lowest line from it, in pixels.
    private static let top = 8.0
    private static let bottom = 128.0
    /// The part of the width of a period that its bar has.
    private static let fill = 0.8
    /// The maximum number of names below the chart, and of spaces between lines.
    private static let labelLimit = 4
    private static let spaceLimit = 4
    /// The height in pixels of the smallest bar, so that a single event among millions is seen.
    private static let smallest = 2.0
    /// The largest number that is drawn; a larger one is drawn like it.
    private static let largest = 1_000_000_000_000_000

    /// Draws the numbers of consecutive periods.
    ///
    /// - Parameters:
    ///   - periods: The periods, earliest first.
    ///   - unit: The number of periods that have a name in common, such as the quarters of a day.
    ///   - words: The texts in the language of the page.
    init(_ periods: [Period], named unit: Int = 1, _ words: Localizer) {
        let counts = periods.map { min(max($0.count, 0), Self.largest) }
        let values = Self.values(upTo: counts.max() ?? 0)
        let highest = Double(values.last ?? 1)
        func height(_ count: Int) -> Double { Double(count) / highest * (Self.bottom - Self.top) }
        let width = (100 - Self.margin) / Double(max(periods.count, 1))
        bars = zip(periods, counts).enumerated().compactMap { index, period in
            let (period, count) = period
            guard count > 0 else { return nil }
            let height = max(height(count), Self.smallest)
            return Bar(
                left: Self.percent(Self.margin + (Double(index) + (1 - Self.fill) / 2) * width),
                top: Self.number(Self.bottom - height), width: Self.percent(width * Self.fill),
                height: Self.number(height), says: period.says)
        }
        ticks = values.map { value in
            Tick(top: Self.number(Self.bottom - height(value)), label: Self.short(value, words))
        }
        let spacing = unit * Self.labelLimit
        let step = max((periods.count + spacing - 1) / spacing, 1) * unit
        labels = stride(from: 0, to: periods.count, by: step).map { index in
            Label(
                middle: Self.percent(Self.margin + (Double(index) + 0.5) * width), text: periods[index].shortName)
        }
    }

    /// Returns the numbers at the lines of an axis that reaches up to a number: multiples of 1, 2 or 5 times a power of
    /// ten, at most five.
    static func values(upTo highest: Int) -> [Int] {
        let highest = min(max(highest, 1), largest)
        var (unit, factors) = (1, [1, 2, 5][...])
        while let factor = factors.first {
            let step = unit * factor
            let spaces = (highest - 1) / step + 1
            if spaces <= spaceLimit { return (0...spaces).map { $0 * step } }
            factors.removeFirst()
            if factors.isEmpty { (unit, factors) = (unit * 10, [1, 2, 5]) }
        }
        return []
    }

    /// Formats a number of an axis with the prefixes of units, such as `1.5k`.
    private static func short(_ value: Int, _ words: Localizer) -> String {
        let prefixes = ["", "k", "M", "G", "T"]
        var (scaled, place) = (Double(value), 0)
        while scaled >= 1000, place < prefixes.count - 1 { (scaled, place) = (scaled / 1000, place + 1) }
        return words.number(scaled) + prefixes[place]
    }

    private static func number(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }

    private static func percent(_ value: Double) -> String { number(value) + "%" }
}
