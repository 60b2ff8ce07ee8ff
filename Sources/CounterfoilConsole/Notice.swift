import CounterfoilProtocol
import CounterfoilServer

/// What has just happened, told by the page that a form leads to: a code of a fixed vocabulary in `done`, never a text.
protocol Notice: Phrase {}

extension Notice {
    /// The code: the last part of the key.
    var code: String { String(rawValue.split(separator: ".").last ?? "") }
}

extension Console.Visit {
    /// What the address says has just happened.
    func notice<Vocabulary: Notice>(_ vocabulary: Vocabulary.Type) -> String? {
        guard let code = try? FormParameters(parsing: request.query).single(Reply.noticeParameter) else { return nil }
        return vocabulary.allCases.first { $0.code == code }.map { words($0) }
    }
}

extension Reply {
    /// The parameter that carries the code.
    static let noticeParameter = "done"

    /// Leads to the page that shows the result of a form, and tells it what happened.
    static func done(_ notice: some Notice, at path: String) -> Reply {
        .seeOther(path + "?" + FormParameters([noticeParameter: notice.code]).encoded)
    }
}
