import CounterfoilProtocol
import CounterfoilServer

/// A confirmation on the page after a form: a fixed code in the parameter `done`, never a text.
protocol Notice: LocalizationKey {}

extension Notice {
    /// The code: the last part of the key.
    var code: String { String(rawValue.split(separator: ".").last ?? "") }
}

extension Console.Visit {
    /// Returns the confirmation that the URL of the request names.
    func notice<Vocabulary: Notice>(_ vocabulary: Vocabulary.Type) -> String? {
        guard let code = try? FormParameters(parsing: request.query).single(Reply.noticeParameter) else { return nil }
        return vocabulary.allCases.first { $0.code == code }.map { words($0) }
    }
}

extension Reply {
    /// The query parameter of the code.
    static let noticeParameter = "done"

    /// Redirects to the page that shows the result of a form, with a confirmation.
    static func done(_ notice: some Notice, at path: String) -> Reply {
        .seeOther(path + "?" + FormParameters([noticeParameter: notice.code]).encoded)
    }
}
