/// Text in one syntax, in which every interpolated value is a quoted literal of the syntax.
///
/// A value therefore cannot end its literal, whatever it contains. Only other text of the same syntax is inserted
/// without quotes.
struct ConfigurationText<Syntax: ConfigurationSyntax>: ExpressibleByStringInterpolation, Sendable {
    let text: String

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(2 * literalCapacity) }

        mutating func appendLiteral(_ literal: String) { text += literal }

        /// Appends a value as a quoted literal.
        mutating func appendInterpolation(_ value: String) { text += Syntax.quoted(value) }

        /// Appends values as quoted literals with a separator.
        mutating func appendInterpolation(_ values: [String], separator: String = ", ") {
            text += values.map(Syntax.quoted).joined(separator: separator)
        }

        /// Appends text of the same syntax.
        mutating func appendInterpolation(_ part: ConfigurationText) { text += part.text }

        /// Appends a number.
        mutating func appendInterpolation(_ number: Int) { text += String(number) }
    }

    init(stringLiteral literal: String) { text = literal }

    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// The lines that are not nil, joined with line breaks.
    init(lines: [ConfigurationText?]) {
        text = lines.compactMap { $0?.text }.joined(separator: "\n")
    }
}

/// A syntax of configurations or of source code.
protocol ConfigurationSyntax: Sendable {
    /// The characters that begin a comment, which ends with its line.
    static var comment: String { get }
    /// Returns a literal of the syntax whose value is the given text.
    static func quoted(_ text: String) -> String
}

/// YAML: a flow scalar in double quotes (YAML 1.2 §7.3.1).
enum YAML: ConfigurationSyntax {
    static let comment = "#"

    static func quoted(_ text: String) -> String { text.literal { "\\U" + $0.hexadecimal(8) } }
}

/// The YAML files of Spring, which replaces `${…}` in values unless a backslash precedes it (Spring Framework 6.2).
enum SpringYAML: ConfigurationSyntax {
    static let comment = "#"

    static func quoted(_ text: String) -> String { YAML.quoted(text.replacing("${", with: "\\${")) }
}

/// JavaScript, also in a `script` element: `<` is escaped, so that no literal ends the element.
enum JavaScript: ConfigurationSyntax {
    static let comment = "//"

    static func quoted(_ text: String) -> String { text.literal(escaping: "<", \.utf16Escapes) }
}

enum PythonCode: ConfigurationSyntax {
    static let comment = "#"

    static func quoted(_ text: String) -> String { text.literal { "\\U" + $0.hexadecimal(8) } }
}

enum GoCode: ConfigurationSyntax {
    static let comment = "//"

    static func quoted(_ text: String) -> String { text.literal { "\\U" + $0.hexadecimal(8) } }
}

enum CSharpCode: ConfigurationSyntax {
    static let comment = "//"

    static func quoted(_ text: String) -> String { text.literal(\.utf16Escapes) }
}

enum SwiftCode: ConfigurationSyntax {
    static let comment = "//"

    static func quoted(_ text: String) -> String { text.literal { "\\u{" + $0.hexadecimal(1) + "}" } }
}

/// Kotlin, in which `$` begins a template.
enum KotlinCode: ConfigurationSyntax {
    static let comment = "//"

    static func quoted(_ text: String) -> String { text.literal(escaping: "$", \.utf16Escapes) }
}

/// TOML: a basic string.
enum TOML: ConfigurationSyntax {
    static let comment = "#"

    static func quoted(_ text: String) -> String { text.literal { "\\U" + $0.hexadecimal(8) } }
}

/// A POSIX shell: a word, in single quotes unless every character is harmless.
enum Shell: ConfigurationSyntax {
    static let comment = "#"

    static func quoted(_ text: String) -> String {
        let harmless = "/:._-".unicodeScalars
        let isPlain = !text.isEmpty && text.unicodeScalars.allSatisfy { $0.isLetterOrDigit || harmless.contains($0) }
        return isPlain ? text : "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}

/// A configuration of Apache httpd, in which a variable is the only way to write the characters `${`.
///
/// The syntax cannot express line breaks and other control characters, which are omitted.
enum Apache: ConfigurationSyntax {
    static let comment = "#"

    /// The definition of the variable; it must precede every value that contains `${`.
    static let dollar: ConfigurationText<Apache> = "Define COUNTERFOIL_DOLLAR $"

    static func quoted(_ text: String) -> String {
        let kept = String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0 != "\u{7F}" }))
        let escaped = kept.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"" + escaped.replacing("${", with: "${COUNTERFOIL_DOLLAR}{") + "\""
    }
}

extension String {
    /// Returns the text in double quotes, with a backslash before `"` and `\`.
    ///
    /// Every character that is not printable ASCII, or is one of `others`, is replaced by `escape`.
    fileprivate func literal(escaping others: String = "", _ escape: (Unicode.Scalar) -> String) -> String {
        var literal = "\""
        for scalar in unicodeScalars {
            if scalar == "\"" || scalar == "\\" {
                literal += "\\" + String(scalar)
            } else if (0x20...0x7E).contains(scalar.value), !others.unicodeScalars.contains(scalar) {
                literal.unicodeScalars.append(scalar)
            } else {
                literal += escape(scalar)
            }
        }
        return literal + "\""
    }
}

extension Unicode.Scalar {
    fileprivate var isLetterOrDigit: Bool {
        ("a"..."z").contains(self) || ("A"..."Z").contains(self) || ("0"..."9").contains(self)
    }

    fileprivate func hexadecimal(_ width: Int) -> String { value.hexadecimal(width) }

    /// The escape sequences of the UTF-16 code units.
    fileprivate var utf16Escapes: String { String(self).utf16.map { "\\u" + $0.hexadecimal(4) }.joined() }
}

extension FixedWidthInteger {
    /// Returns at least `width` hexadecimal digits.
    fileprivate func hexadecimal(_ width: Int) -> String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
    }
}
