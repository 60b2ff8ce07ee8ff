import CounterfoilServer
import Mustache

/// What a template can name: the page itself, what stands around it, and what a template without logic cannot work out.
struct PageContext: MustacheParent {
    private let values: [String: Any]

    /// Puts a context together.
    ///
    /// - Parameters:
    ///   - page: the page's own value, as `page`.
    ///   - console: the head of a page for somebody who is signed in, as `console`.
    ///   - others: what the template names beside it.
    init(
        _ page: any Sendable, in frame: Frame, assets: Addresses, console: ConsoleHead? = nil,
        _ others: [String: (any Sendable)?] = [:]
    ) {
        var values: [String: Any] = others.compactMapValues { $0 }
        values["page"] = Members(of: page)
        values["site"] = Members(of: frame.site)
        values["language"] = frame.language.rawValue
        values["stylesheet"] = assets.stylesheet
        values["script"] = assets.script
        values["icon"] = assets.icon
        values["console"] = console.map { Members(of: ConsoleContext($0)) }
        self.values = values
    }

    func child(named name: String) -> Any? { values[name] }

    /// The addresses of what a page loads.
    struct Addresses {
        let stylesheet: String
        let script: String
        let icon: String
    }
}

/// The members of a value by name, looked up once: a template asks for them many times.
private struct Members: MustacheParent {
    private let values: [String: Any]

    init(of value: Any) {
        var values: [String: Any] = [:]
        for (name, value) in Mirror(reflecting: value).children {
            guard let name else { continue }
            let mirror = Mirror(reflecting: value)
            values[name] = mirror.displayStyle == .optional ? mirror.children.first?.value : value
        }
        self.values = values
    }

    func child(named name: String) -> Any? { values[name] }
}

/// The kinds of redirect destination; one is there, the others are nil or false.
struct DestinationContext {
    var thisComputer: String?
    var thisComputerByName = false
    var app: String?
    var website: String?

    init(_ destination: ConsentPage.RedirectDestination) {
        switch destination {
        case .thisComputer(let host): thisComputer = host
        case .thisComputerByName: thisComputerByName = true
        case .app(let scheme): app = scheme
        case .website(let host): website = host
        }
    }
}
