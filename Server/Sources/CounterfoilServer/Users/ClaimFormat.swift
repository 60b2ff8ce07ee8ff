import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The format that a claim about a user must have.
package enum ClaimFormat: Sendable {
    case name
    case lines
    case url
    case birthdate
    case timeZone
    case language
    case telephone

    /// A description of the format, for error messages.
    package var rule: String {
        switch self {
        case .name: "must be one line of at most 100 characters."
        case .lines: "must be at most 400 characters."
        case .url: "must be an https URL of at most 2048 bytes."
        case .birthdate:
            "must be a day such as 1990-01-31, a day without the year such as 0000-01-31, or a year such as 1990."
        case .timeZone: "must be the name of a time zone, such as Europe/Oslo."
        case .language: "must be a language tag, such as nb or nb-NO."
        case .telephone: "must be a plus sign and 6 to 15 digits, such as +4722225555."
        }
    }

    package func accepts(_ text: String) -> Bool {
        switch self {
        case .name: text.count <= 100 && text.utf8.count <= 1000 && !text.unicodeScalars.contains(where: Self.isControl)
        case .lines:
            text.count <= 400 && text.utf8.count <= 4000
                && !text.unicodeScalars.contains { Self.isControl($0) && $0 != "\n" && $0 != "\r" }
        case .url:
            text.utf8.count <= 2048
                && (try? AbsoluteURI(parsing: text)).map { uri in
                    uri.scheme == "https" && uri.host?.isEmpty == false && uri.userInformation == nil
                } ?? false
        case .birthdate:
            text.wholeMatch(of: /[0-9]{4}/) != nil
                || (text.hasPrefix("0000-") && CalendarDay("2000" + text.dropFirst(4)) != nil)
                || Self.isDay(text)
        case .timeZone: text.contains("/") && text.isASCIIText && TimeZone(identifier: text) != nil
        case .language: text.wholeMatch(of: /[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}/) != nil
        case .telephone: text.wholeMatch(of: /\+[0-9]{6,15}/) != nil
        }
    }

    /// Returns whether a text is a day of the calendar.
    ///
    /// It accepts the years 1800 to 2099. `CalendarDay` accepts no year before 1970, so it checks a later day instead.
    private static func isDay(_ text: String) -> Bool {
        guard text.wholeMatch(of: /(18|19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}/) != nil else { return false }
        // The calendar repeats every 400 years, so a day exists if and only if the day 400 years later does.
        let later = Int(text.prefix(4)).map { String($0 + 400) + text.dropFirst(4) }
        return later.flatMap { CalendarDay($0) } != nil
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }
}

extension String {
    fileprivate var isASCIIText: Bool { utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}
