import CounterfoilServer

extension KeyDocument {
    /// The key as one line of text.
    var words: String { "\(kid)  \(algorithm)  \(state) since \(since)" }
}
