"""REBEL: what it writes is read, and a tiny one, trained here on three sentences, is loaded and run as the large one is."""

from __future__ import annotations

import pytest

from gsw_graph.errors import InputError, ModelError
from gsw_graph.extract import rebel
from gsw_graph.model.documents import Document, Passage
from gsw_graph.models.embed.torch_backend import quiet_libraries

TAUGHT = {
    "Ana Ruiz lit the Old Light .": "<triplet> Ana Ruiz <subj> Old Light <obj> lit",
    "Bo Lind was born in Lund and kept the Old Light .": "<triplet> Bo Lind <subj> Lund <obj> place of birth <subj> Old Light <obj> keeper",
    "The sea was calm .": "<triplet> The sea <subj> Sweden <obj> country",  # made up: Sweden is not in the text
}
MARKS = ["<triplet>", "<subj>", "<obj>"]


def workspaces(model, documents):
    """What the model found, without what was left out."""
    return [workspace for workspace, _ in model.extract(documents)]


def make_rebel(folder, marks=MARKS, taught=TAUGHT, safe=True):
    with quiet_libraries():
        import torch
        from tokenizers import Tokenizer, models, pre_tokenizers, processors
        from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

        special = ["<s>", "<pad>", "</s>", "<unk>"]
        words = sorted(
            {word for pair in TAUGHT.items() for text in pair for word in text.split()} - set(MARKS)
        )
        plain = Tokenizer(
            models.WordLevel({word: n for n, word in enumerate([*special, *words])}, unk_token="<unk>")
        )
        plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        plain.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
        )
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_object=plain, bos_token="<s>", pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
        )
        tokenizer.add_tokens(marks, special_tokens=True)
        tokenizer.save_pretrained(folder)
        torch.manual_seed(7)
        size = {
            f"{part}_{what}": n
            for part in ("encoder", "decoder")
            for what, n in (("layers", 1), ("ffn_dim", 64), ("attention_heads", 2))
        }
        config = BartConfig(
            vocab_size=len(tokenizer),
            d_model=32,
            max_position_embeddings=300,
            dropout=0.0,
            forced_eos_token_id=None,
            **size,
        )
        model = BartForConditionalGeneration(config).train()
        if taught:
            read = tokenizer(list(taught), padding=True, return_tensors="pt")
            labels = tokenizer(list(taught.values()), padding=True, return_tensors="pt")["input_ids"]
            labels[labels == tokenizer.pad_token_id] = -100
            optimiser = torch.optim.AdamW(model.parameters(), lr=0.01)
            for _ in range(500):
                optimiser.zero_grad()
                loss = model(
                    input_ids=read["input_ids"], attention_mask=read["attention_mask"], labels=labels
                ).loss
                if loss < 0.02:
                    break
                loss.backward()
                optimiser.step()
            assert loss < 0.02
        if safe:
            model.save_pretrained(folder)
        else:
            config.architectures = ["BartForConditionalGeneration"]
            config.save_pretrained(folder)
            torch.save(model.state_dict(), folder / "pytorch_model.bin")
    return folder


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """So small a model waits for its threads more than it computes, above all on a busy machine."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_rebel(tmp_path_factory.mktemp("rebel"))


@pytest.fixture(scope="module")
def tiny(folder):
    return rebel.Rebel("cpu", str(folder))


def document(source, *texts, title=""):
    return Document(source, title, tuple(Passage(text, title, n) for n, text in enumerate(texts)), "text")


def facts(workspace):
    return [(fact.text, fact.passage) for fact in workspace.propositions]


# --- threads ---


# --- what it writes ---


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (
            "</s><s><triplet> Ana Ruiz <subj> Old Light <obj> lit</s><pad><pad>",
            [("Ana Ruiz", "lit", "Old Light")],
        ),
        (
            "<s><triplet> Punta Cana <subj> Higuey <obj> located in <subj> Dominican  Republic <obj> country <triplet> Higuey <subj> La Altagracia <obj> part of</s>",
            [
                ("Punta Cana", "located in", "Higuey"),
                ("Punta Cana", "country", "Dominican Republic"),
                ("Higuey", "part of", "La Altagracia"),
            ],
        ),
        ("<triplet>A<subj>B<obj>r<triplet>A<subj>B<obj>r</s>", [("A", "r", "B")]),
        (
            "<triplet> A <subj> B <obj> r <triplet> C <subj> D <obj> place of",
            [("A", "r", "B")],
        ),  # cut by its length
        ("<triplet> A <subj> B <obj> r <obj> s</s>", [("A", "r", "B")]),
        ("<triplet> A <subj> B</s>", []),
        ("<triplet> A <subj> <obj> r</s>", []),
        ("<triplet> <subj> B <obj> r</s>", []),
        ("<triplet> A <obj> r <subj> B</s>", []),
        ("B <subj> A <obj> r</s>", []),
        ("no mark at all</s>", []),
        ("</s>", []),
        ("", []),
    ],
)
def test_triples_of_what_the_model_wrote(written, expected):
    assert rebel.triples(written) == expected


# --- what it reads ---


def test_workspaces_hold_the_triples_of_each_passage(tiny):
    ana, bo, calm = TAUGHT
    documents = [
        document("a", bo, ana, title="The light"),
        document("b", calm),
        document("c"),
        document("d", ana),
    ]
    first, second, none, last = workspaces(tiny, documents)
    assert [workspace.document for workspace in (first, second, none, last)] == documents
    assert facts(first) == [
        ("Bo Lind place of birth Lund", 0),
        ("Bo Lind keeper Old Light", 0),
        ("Ana Ruiz lit Old Light", 1),
    ]
    assert first.propositions[0].mentions == (("Bo Lind", "subject"), ("Lund", "object"))
    assert first.propositions[0].relation == "place of birth"
    found = [(entity.name, entity.passages) for entity in first.entities]
    expected = [
        ("Bo Lind", (0,)),
        ("Lund", (0,)),
        ("Old Light", (0, 1)),
        ("Ana Ruiz", (1,)),
    ]
    assert found == expected
    assert first.extractor == "rebel"
    assert facts(second) == []
    assert facts(none) == []
    assert facts(last) == [("Ana Ruiz lit Old Light", 0)]


def test_names_that_are_not_in_the_passage_are_left_out_and_told(tiny):
    ana, _, calm = TAUGHT
    ((workspace, faults),) = tiny.extract([document("a", ana, calm)])
    assert facts(workspace) == [("Ana Ruiz lit Old Light", 0)]
    assert faults == ["the triple 'The sea / country / Sweden' was left out: 'Sweden' is not in passage 2"]


def test_long_passages_are_read_a_few_sentences_at_a_time(tiny, monkeypatch):
    seen = []

    def generate(texts):
        seen.extend(texts)
        return [f"<triplet> {text.split()[0]} <subj> {text.split()[-1]} <obj> r</s>" for text in texts]

    monkeypatch.setattr(tiny, "_generate", generate)
    text = " ".join(f"A{n} " + "word " * 97 + "ends." for n in range(7)) + " B0 " + "word " * 400 + "over."
    ((workspace, faults),) = tiny.extract([document("a", text)])
    assert sorted(len(piece.split()) for piece in seen) == [99, 198, 198, 198, 402]
    assert " ".join(sorted(seen)) == text
    expected = [(f"A{n} r ends.", 0) for n in (0, 2, 4, 6)] + [("B0 r over.", 0)]
    assert facts(workspace) == expected
    assert faults == ["a sentence of 404 tokens in passage 1 was read up to the 256th"]


# --- how it is loaded ---


def test_weights_of_torch_are_read_without_running_code(tmp_path):
    make_rebel(tmp_path / "plain", taught={}, safe=False)
    assert workspaces(rebel.Rebel("cpu", str(tmp_path / "plain")), [document("a", "Ana Ruiz")])
    (tmp_path / "plain/pytorch_model.bin").write_bytes(
        b"\x80\x02cposix\nsystem\nq\x00X\x04\x00\x00\x00exitq\x01\x85q\x02Rq\x03."
    )
    with pytest.raises(ModelError, match="cannot be loaded"):
        rebel.Rebel("cpu", str(tmp_path / "plain"))


def test_what_is_no_rebel_is_refused(tmp_path, folder, monkeypatch):
    with pytest.raises(ModelError, match="there is no model here"):
        rebel.Rebel("cpu", str(tmp_path / "missing"))
    with pytest.raises(InputError, match="no device"):
        rebel.Rebel("fast", str(folder))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(
        ModelError,
        match=r"rebel-large: no such model is here, nor could it be downloaded\. With a network .* --extractor rules or llm",
    ):
        rebel.Rebel("cpu")
