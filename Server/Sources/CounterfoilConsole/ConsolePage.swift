package import CounterfoilServer

/// A page for a signed-in user.
package protocol ConsolePage: Page {
    var console: ConsoleHead { get }
}

extension ConsolePage {
    package var script: PageScript? { .interactive }

    package func values(in frame: Frame) -> [String: (any Sendable)?] { ["console": ConsoleContext(console)] }
}
