import ArgumentParser

/// A number of seconds, as given with an option: `90`, `90s`, `10m`, `8h`, `30d` or `2w`.
struct Seconds: ExpressibleByArgument, CustomStringConvertible, Sendable, Hashable {
    let value: Int

    private static let units: [(suffix: Character, seconds: Int)] = [
        ("w", 7 * 86_400), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1),
    ]

    init(_ value: Int) { self.value = value }

    init?(argument: String) { self.init(argument, unit: 1) }

    /// - Parameter unit: The seconds for which a number without a unit stands.
    init?(_ text: String, unit standard: Int) {
        let unit = Self.units.first { text.last == $0.suffix }
        let digits = unit == nil ? text[...] : text.dropLast()
        guard (1...10).contains(digits.count), digits.allSatisfy({ $0.isASCII && $0.isNumber }),
            let number = Int(digits)
        else { return nil }
        let (seconds, isTooLarge) = number.multipliedReportingOverflow(by: unit?.seconds ?? standard)
        guard !isTooLarge else { return nil }
        value = seconds
    }

    /// The value with the largest unit up to days that fits.
    var description: String {
        let unit = Self.units.dropFirst().first { value > 0 && value.isMultiple(of: $0.seconds) }
        return unit.map { "\(value / $0.seconds)\($0.suffix)" } ?? "\(value)s"
    }

    var defaultValueDescription: String { description }
}

/// A number of days, as given with an option: `90`, `90d`, `12w`, or another time that is a number of whole days.
struct Days: ExpressibleByArgument, CustomStringConvertible, Sendable, Hashable {
    let value: Int

    private static let day = 86_400

    init(_ value: Int) { self.value = value }

    init?(argument: String) {
        guard let time = Seconds(argument, unit: Self.day), time.value.isMultiple(of: Self.day) else { return nil }
        value = time.value / Self.day
    }

    var description: String { "\(value)" }

    var defaultValueDescription: String { description }
}
