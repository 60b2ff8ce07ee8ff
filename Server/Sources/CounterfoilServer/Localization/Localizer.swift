package import CounterfoilStore
package import Foundation

/// The translator of texts into one language.
///
///     let words = request.words
///     page.problem = words(refusal)
package struct Localizer: Sendable {
    package let language: Language

    private let catalogue: Catalogue?

    /// Creates a translator into a language, with the catalogue of the server.
    package init(_ language: Language) {
        self.language = language
        catalogue = try? Catalogue.shipped.get()
    }

    /// The translator into English, for the command line and the log.
    package static let english = Localizer(.english)

    package func callAsFunction(_ message: some Localized) -> String { self(message.text) }

    /// Translates a text and replaces its placeholders.
    ///
    /// If the catalogue lacks the key, the result is the key. A test ensures that the catalogue lacks none.
    package func callAsFunction(_ text: LocalizedText) -> String {
        guard let template = template(of: text) else { return text.key }
        var said = ""
        for piece in template.pieces {
            switch piece {
            case .text(let plain): said += plain
            case .placeholder(let name): said += text.values[name].map(say) ?? ""
            case .boldBegins, .boldEnds: break
            }
        }
        return said
    }

    /// Formats a date in UTC, in English as "21 November 2026".
    package func date(_ date: Date) -> String {
        date.formatted(
            Date.FormatStyle(date: .long, time: .omitted, locale: language.locale, timeZone: .gmt)
        )
    }

    /// Formats a date and time in UTC, in English as "21 November 2026 at 14:03 UTC".
    package func moment(_ date: Date) -> String {
        let said = date.formatted(
            Date.FormatStyle(date: .long, time: .shortened, locale: language.locale, timeZone: .gmt)
        )
        return said + " UTC"
    }

    /// Formats a date and time to the second in a time zone, which the page names: in English as
    /// "21 Nov 2026, 14:03:07".
    package func moment(_ date: Date, in zone: TimeZone) -> String {
        date.formatted(
            Date.FormatStyle(date: .abbreviated, time: .standard, locale: language.locale, timeZone: zone))
    }

    /// Formats a date and time to the minute in a time zone, which the page names: in English as "21 Nov 2026, 14:03".
    package func minute(_ date: Date, in zone: TimeZone) -> String {
        date.formatted(
            Date.FormatStyle(date: .abbreviated, time: .shortened, locale: language.locale, timeZone: zone))
    }

    /// Formats the time of day in a time zone, in English as "14:03".
    package func time(_ date: Date, in zone: TimeZone) -> String {
        date.formatted(Date.FormatStyle(date: .omitted, time: .shortened, locale: language.locale, timeZone: zone))
    }

    /// Formats the day and the month in a time zone, in English as "21 Nov".
    package func day(_ date: Date, in zone: TimeZone) -> String {
        date.formatted(Date.FormatStyle(locale: language.locale, timeZone: zone).day().month(.abbreviated))
    }

    /// Formats the date in a time zone, in English as "21 November 2026".
    package func wholeDay(_ date: Date, in zone: TimeZone) -> String {
        date.formatted(Date.FormatStyle(date: .long, time: .omitted, locale: language.locale, timeZone: zone))
    }

    /// Formats the month in a time zone, in English as "Nov".
    package func month(_ date: Date, in zone: TimeZone) -> String {
        date.formatted(Date.FormatStyle(locale: language.locale, timeZone: zone).month(.abbreviated))
    }

    /// Formats the month and the year in a time zone, in English as "November 2026".
    package func wholeMonth(_ date: Date, in zone: TimeZone) -> String {
        date.formatted(Date.FormatStyle(locale: language.locale, timeZone: zone).month(.wide).year())
    }

    /// Formats an integer, in English as "12,345".
    package func number(_ number: Int) -> String {
        number.formatted(IntegerFormatStyle<Int>(locale: language.locale))
    }

    /// Formats a number with at most two digits after the decimal separator, in English as "1.5".
    package func number(_ number: Double) -> String {
        number.formatted(
            FloatingPointFormatStyle<Double>(locale: language.locale).precision(.fractionLength(0...2)))
    }

    /// Formats the end of something in UTC, rounded up to the minute: in English as "14:03 UTC" if it is today, and as
    /// ``moment(_:)`` does if not.
    package func end(_ date: Date, now: Date) -> String {
        let end = Date(timeIntervalSince1970: (date.timeIntervalSince1970 / 60).rounded(.up) * 60)
        let day: TimeInterval = 86_400
        guard (end.timeIntervalSince1970 / day).rounded(.down) == (now.timeIntervalSince1970 / day).rounded(.down)
        else { return moment(end) }
        return end.formatted(
            Date.FormatStyle(date: .omitted, time: .shortened, locale: language.locale, timeZone: .gmt)
        ) + " UTC"
    }

    /// Returns the text of a key with its placeholders not yet replaced; nil if the catalogue lacks the key.
    package func message(_ key: String) -> MessageTemplate? { catalogue?.message(key, in: language) }

    private func template(of text: LocalizedText) -> MessageTemplate? {
        if case .number(let count)? = text.values["count"], language.isOne(count),
            let one = message(text.key + ".one")
        {
            return one
        }
        return message(text.key)
    }

    private func say(_ value: LocalizedText.Value) -> String {
        switch value {
        case .text(let text): text
        case .name(let name): name.description
        case .date(let date): self.date(date)
        case .number(let number): String(number)
        case .nested(let text): self(text)
        }
    }
}

extension Language {
    /// The locale in whose format dates are shown.
    fileprivate var locale: Locale {
        switch self {
        case .english: Locale(identifier: "en_GB")
        case .german: Locale(identifier: "de_DE")
        case .norwegian: Locale(identifier: "nb_NO")
        case .french: Locale(identifier: "fr_FR")
        case .spanish: Locale(identifier: "es_ES")
        }
    }

    /// Returns true if a count needs the singular: 1 in every language, and also 0 in French.
    fileprivate func isOne(_ count: Int) -> Bool {
        count == 1 || (self == .french && count == 0)
    }
}
