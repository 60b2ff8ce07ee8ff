import ArgumentParser

/// A number of seconds, as given with an option: `90`, `90s`, `10m`, `8h` or `30d`.
struct Seconds: ExpressibleByArgument, CustomStringConvertible, Sendable, Hashable {
    let value: Int

    private static let units: [(suffix: Character, seconds: Int)] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]

    init(_ value: Int) { self.value = value }

    init?(argument: String) {
        let unit = Self.units.first { argument.last == $0.suffix }
        let digits = unit == nil ? argument[...] : argument.dropLast()
        guard (1...10).contains(digits.count), digits.allSatisfy({ $0.isASCII && $0.isNumber }),
            let number = Int(digits)
        else { return nil }
        let (seconds, isTooLarge) = number.multipliedReportingOverflow(by: unit?.seconds ?? 1)
        guard !isTooLarge else { return nil }
        value = seconds
    }

    /// The value with the largest unit that fits.
    var description: String {
        let unit = Self.units.first { value > 0 && value.isMultiple(of: $0.seconds) }
        return unit.map { "\(value / $0.seconds)\($0.suffix)" } ?? "\(value)s"
    }

    var defaultValueDescription: String { description }
}
