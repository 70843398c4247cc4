//! The hooks of several configurations, those that they have in common once.

/// What makes hooks, each behind the one before it in some configuration.
pub(super) struct Tree<F> {
    /// What comes before stands before.
    pub nodes: Vec<Node<F>>,
    /// By configuration: the last hook that decides, if it has one.
    pub leaves: Vec<Option<usize>>,
}

/// What makes a hook.
pub(super) struct Node<F> {
    pub make: F,
    /// The last hook before it that decides.
    pub before: Option<usize>,
    /// It leaves every plan as it is.
    pub watches: bool,
    /// Hooks of equal names behind the same one count the same.
    name: String,
    /// The configurations for which it counts.
    pub places: Vec<usize>,
}

impl<F> Default for Tree<F> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            leaves: Vec::new(),
        }
    }
}

impl<F> Tree<F> {
    /// Adds the hooks of the configuration at `place`, in their order.
    pub fn grow<'n>(
        &mut self,
        place: usize,
        hooks: impl IntoIterator<Item = (F, &'n (String, bool))>,
    ) {
        let mut before = None;
        for (make, (name, watches)) in hooks {
            let mut nodes = self.nodes.iter();
            let known = nodes.position(|node| node.before == before && node.name == *name);
            let node = known.unwrap_or_else(|| {
                self.nodes.push(Node {
                    make,
                    before,
                    watches: *watches,
                    name: name.clone(),
                    places: Vec::new(),
                });
                self.nodes.len() - 1
            });
            self.nodes[node].places.push(place);
            before = if *watches { before } else { Some(node) };
        }
        self.leaves.resize(self.leaves.len().max(place + 1), None);
        self.leaves[place] = before;
    }
}
