import CounterfoilWeb

/// The number of values of a setting, and whether it is a flag.
enum SettingKind: Sendable, Hashable {
    /// True or false.
    case flag
    case value
    case list
}

/// The refusal of the text of a setting: the words that follow its name in an error message.
struct SettingRefusal: Error {
    let words: String

    /// The text has not the form or the range of the setting.
    static func form(_ form: String) -> SettingRefusal { SettingRefusal(words: " must be \(form).") }

    /// The text is shown with the reason.
    static func text(_ text: String, _ reason: String) -> SettingRefusal {
        SettingRefusal(words: " \(text): \(reason).")
    }

    /// The reason shows the text, or must not show it.
    static func reason(_ reason: String) -> SettingRefusal {
        SettingRefusal(words: ": \(reason).")
    }

    static let empty = SettingRefusal(words: " cannot be empty.")
}

/// The form of a setting: how it is read and written as text, and its type in the JSON Schema.
///
/// An option, a variable and a line of the settings file are read by the same function.
struct SettingForm<Value: Sendable>: Sendable {
    let kind: SettingKind
    let schema: SettingSchema
    /// The only possible values; empty if there are others.
    let choices: [String]
    /// Reads the texts of a place: one, or those of a list.
    let read: @Sendable ([String]) throws(SettingRefusal) -> Value
    /// The texts of a value; none for a value that is missing.
    let texts: @Sendable (Value) -> [String]

    private init(
        kind: SettingKind, schema: SettingSchema, choices: [String],
        read: @escaping @Sendable ([String]) throws(SettingRefusal) -> Value,
        texts: @escaping @Sendable (Value) -> [String]
    ) {
        self.kind = kind
        self.schema = schema
        self.choices = choices
        self.read = read
        self.texts = texts
    }

    /// Creates the form of one value.
    init(
        _ schema: SettingSchema, kind: SettingKind = .value, choices: [String] = [],
        read: @escaping @Sendable (String) throws(SettingRefusal) -> Value,
        text: @escaping @Sendable (Value) -> String
    ) {
        self.init(
            kind: kind, schema: schema, choices: choices,
            read: { texts throws(SettingRefusal) in try read(texts.last ?? "") }, texts: { [text($0)] })
    }

    /// Creates the form of a list whose elements are read together.
    ///
    /// The settings file can have one value without brackets.
    init(
        listOf element: SettingSchema, read: @escaping @Sendable ([String]) throws(SettingRefusal) -> Value,
        texts: @escaping @Sendable (Value) -> [String] = { _ in [] }
    ) {
        self.init(
            kind: .list, schema: .anyOf([.list(of: element), element]), choices: [], read: read, texts: texts)
    }

    /// The form of a setting that can be missing.
    func orNone() -> SettingForm<Value?> {
        let (read, texts) = (read, texts)
        return SettingForm<Value?>(
            kind: kind, schema: schema, choices: choices,
            read: { given throws(SettingRefusal) in try read(given) }, texts: { $0.map(texts) ?? [] })
    }

    /// The form of a list of such values.
    func list() -> SettingForm<[Value]> {
        let (read, texts) = (read, texts)
        return SettingForm<[Value]>(
            listOf: schema,
            read: { given throws(SettingRefusal) in
                var values: [Value] = []
                for text in given { values.append(try read([text])) }
                return values
            }, texts: { $0.flatMap(texts) })
    }
}

extension SettingForm<Bool> {
    static let flag = SettingForm(
        SettingSchema("boolean"), kind: .flag,
        read: { text throws(SettingRefusal) in
            guard ["true", "false"].contains(text) else { throw .form("true or false") }
            return text == "true"
        }, text: { "\($0)" })
}

extension SettingForm<Int> {
    static func number(_ range: ClosedRange<Int>) -> SettingForm {
        SettingForm(
            .integer(range),
            read: { text throws(SettingRefusal) in
                guard let value = Int(text), range.contains(value) else {
                    throw .form("a number from \(range.lowerBound) to \(range.upperBound)")
                }
                return value
            }, text: { "\($0)" })
    }

    /// A time in seconds, with its range.
    static func time(_ range: ClosedRange<Int>) -> SettingForm {
        SettingForm(
            .anyOf([.integer(range), .text("^[0-9]{1,10}[smhdw]?$")]),
            read: { text throws(SettingRefusal) in
                guard let time = Seconds(text), range.contains(time.value) else {
                    throw .form(
                        "a time from \(Seconds(range.lowerBound)) to \(Seconds(range.upperBound)), a number with s, m, "
                            + "h, d or w")
                }
                return time.value
            }, text: { "\(Seconds($0))" })
    }

    /// A number of days, with its range.
    static func days(_ range: ClosedRange<Int>) -> SettingForm {
        SettingForm(
            .anyOf([.integer(range), .text("^[0-9]{1,10}[smhdw]?$")]),
            read: { text throws(SettingRefusal) in
                guard let days = Days(text), range.contains(days.value) else { throw .form(words(for: range)) }
                return days.value
            }, text: { "\($0)" })
    }

    fileprivate static func words(for range: ClosedRange<Int>) -> String {
        "a number of days from \(range.lowerBound) to \(range.upperBound), such as 90, 90d or 12w"
    }
}

extension SettingForm<Int?> {
    /// A number of days, with its range; nil means forever.
    static func daysOrForever(_ range: ClosedRange<Int>) -> SettingForm {
        SettingForm(
            .anyOf([.integer(range), .text("^([0-9]{1,10}[smhdw]?|forever)$")]),
            read: { text throws(SettingRefusal) in
                if text == "forever" { return nil }
                guard let days = Days(text), range.contains(days.value) else {
                    throw .form(SettingForm<Int>.words(for: range) + ", or forever")
                }
                return days.value
            }, text: { $0.map { "\($0)" } ?? "forever" })
    }
}

extension SettingForm where Value: RawRepresentable<String> & CaseIterable {
    /// One of the cases of a type.
    static func choice(among values: [Value] = Array(Value.allCases)) -> SettingForm {
        let choices = values.map(\.rawValue)
        return SettingForm(
            .choice(choices), choices: choices,
            read: { text throws(SettingRefusal) in
                guard choices.contains(text), let value = Value(rawValue: text) else {
                    throw .form("one of \(choices.joined(separator: ", "))")
                }
                return value
            }, text: { $0.rawValue })
    }
}

extension SettingForm<String> {
    /// A text that is not empty, such as a path.
    static let text = text(SettingSchema.notEmpty) { _ in nil }

    /// Any text.
    static func given(_ schema: SettingSchema) -> SettingForm {
        SettingForm(schema, read: { text throws(SettingRefusal) in text }, text: { $0 })
    }

    /// A text that a function refuses with a reason.
    static func text(
        _ schema: SettingSchema, refusal: @escaping @Sendable (String) -> SettingRefusal?
    ) -> SettingForm {
        SettingForm(
            schema,
            read: { text throws(SettingRefusal) in
                guard !text.isEmpty else { throw .empty }
                if let refusal = refusal(text) { throw refusal }
                return text
            }, text: { $0 })
    }
}
