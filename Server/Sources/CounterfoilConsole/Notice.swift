import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore

/// A confirmation that a page shows after a form was submitted.
///
/// The URL of the page contains a fixed code in the parameter `done`, and never the text of the confirmation.
protocol Notice: LocalizationKey {}

extension Notice {
    /// The code in the URL: the last part of the localization key.
    var code: String { String(rawValue.split(separator: ".").last ?? "") }
}

extension Console.Exchange {
    /// Returns the confirmation whose code is in the URL of the request; nil if there is none.
    func noticed<Vocabulary: Notice>(_ vocabulary: Vocabulary.Type) -> Vocabulary? {
        guard let code = parameter(Reply.noticeParameter) else { return nil }
        return vocabulary.allCases.first { $0.code == code }
    }

    /// The client that the confirmation is about; nil if the URL names none.
    var noticedClient: ClientIdentifier? { parameter(Reply.clientParameter).flatMap { ClientIdentifier($0) } }

    /// The ended sign-in of an app that the confirmation is about; nil if the URL names none.
    var noticedSignIn: GrantIdentifier? { parameter(SignedInApps.field).flatMap(GrantIdentifier.init(_:)) }

    /// Returns the value of a query parameter; nil if it is missing, or if the query is not understood.
    func parameter(_ name: String) -> String? {
        (try? FormParameters(parsing: request.query).single(name)).flatMap { $0 }
    }

    /// Returns the text of the confirmation whose code is in the URL of the request; nil if there is none.
    func notice(_ vocabulary: (some Notice).Type) -> String? { noticed(vocabulary).map { words($0) } }
}

extension Reply {
    /// The query parameter that contains the code.
    static let noticeParameter = "done"

    /// The query parameter that contains the identifier of the client that the confirmation is about.
    static let clientParameter = "client"

    /// Redirects to the page that shows the result of a form, with the code of a confirmation in the URL.
    ///
    /// The URL also has the client or the ended sign-in of an app, if the confirmation is about one.
    static func done(
        _ notice: some Notice, of client: ClientIdentifier? = nil, under signIn: GrantIdentifier? = nil, at path: String
    ) -> Reply {
        var query = FormParameters([noticeParameter: notice.code])
        if let client { query.append(clientParameter, client.rawValue) }
        if let signIn { query.append(SignedInApps.field, signIn.rawValue) }
        return .seeOther(path + "?" + query.encoded)
    }
}
