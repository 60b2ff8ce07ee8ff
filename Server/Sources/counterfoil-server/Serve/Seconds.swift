/// A number of seconds, as given with an option: `90`, `90s`, `10m`, `8h`, `30d` or `2w`.
struct Seconds: CustomStringConvertible, Sendable, Hashable {
    let value: Int

    private static let units: [(suffix: Character, seconds: Int)] = [
        ("w", 7 * 86_400), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1),
    ]

    init(_ value: Int) { self.value = value }

    /// - Parameter unit: The seconds for which a number without a unit stands.
    init?(_ text: String, unit standard: Int = 1) {
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
}

/// A number of days, as given with an option: `90`, `90d`, `12w`, or another time that is a number of whole days.
struct Days: Sendable, Hashable {
    let value: Int

    private static let day = 86_400

    init?(_ text: String) {
        guard let time = Seconds(text, unit: Self.day), time.value.isMultiple(of: Self.day) else { return nil }
        value = time.value / Self.day
    }
}
