/// An option of `login` that the configuration file contains: its name, its value there, and its value in a command
/// line.
struct RememberedOption: Sendable {
    /// The long name of the option, as the name of a member.
    struct Name: CodingKey {
        let stringValue: String

        init(stringValue: String) { self.stringValue = stringValue }

        var intValue: Int? { nil }

        init?(intValue: Int) { nil }
    }

    /// The long name of the option.
    let name: String
    /// Takes the value of a command line; nil for one without the option.
    let take: @Sendable (Login, inout LoginSettings) -> Void
    /// Sets the value of a command line without the option.
    let complete: @Sendable (LoginSettings, inout Login) -> Void
    let decode: @Sendable (KeyedDecodingContainer<Name>, inout LoginSettings) throws -> Void
    let encode: @Sendable (LoginSettings, inout KeyedEncodingContainer<Name>) throws -> Void
    /// Returns the values in a command line; an empty one stands for a flag.
    let texts: @Sendable (LoginSettings) -> [String]

    private init<Value: Codable & Sendable>(
        _ name: String, _ value: any WritableKeyPath<LoginSettings, Value?> & Sendable,
        take: @escaping @Sendable (Login) -> Value?, set: @escaping @Sendable (Value, inout Login) -> Void,
        texts: @escaping @Sendable (Value) -> [String]
    ) {
        let key = Name(stringValue: name)
        self.name = name
        self.take = { $1[keyPath: value] = take($0) }
        complete = { settings, login in
            guard take(login) == nil, let value = settings[keyPath: value] else { return }
            set(value, &login)
        }
        decode = { $1[keyPath: value] = try $0.decodeIfPresent(Value.self, forKey: key) }
        encode = { try $1.encodeIfPresent($0[keyPath: value], forKey: key) }
        self.texts = { $0[keyPath: value].map(texts) ?? [] }
    }

    /// An option with a text.
    init(
        _ name: String, _ value: any WritableKeyPath<LoginSettings, String?> & Sendable,
        _ option: any WritableKeyPath<Login, String?> & Sendable
    ) {
        self.init(
            name, value, take: { $0[keyPath: option] }, set: { $1[keyPath: option] = $0 }, texts: { [$0] })
    }

    /// An option with one of several values.
    init<Choice: RawRepresentable<String> & Codable & Sendable>(
        _ name: String, _ value: any WritableKeyPath<LoginSettings, Choice?> & Sendable,
        _ option: any WritableKeyPath<Login, Choice?> & Sendable
    ) {
        self.init(
            name, value, take: { $0[keyPath: option] }, set: { $1[keyPath: option] = $0 }, texts: { [$0.rawValue] })
    }

    /// An option that can be repeated.
    init(
        _ name: String, _ value: any WritableKeyPath<LoginSettings, [String]?> & Sendable,
        _ option: any WritableKeyPath<Login, [String]> & Sendable
    ) {
        self.init(
            name, value, take: { $0[keyPath: option].isEmpty ? nil : $0[keyPath: option] },
            set: { $1[keyPath: option] = $0 }, texts: { $0 })
    }

    /// A flag.
    init(
        _ name: String, _ value: any WritableKeyPath<LoginSettings, Bool?> & Sendable,
        _ option: any WritableKeyPath<Login, Bool> & Sendable
    ) {
        self.init(
            name, value, take: { $0[keyPath: option] ? true : nil }, set: { $1[keyPath: option] = $0 },
            texts: { $0 ? [""] : [] })
    }
}
