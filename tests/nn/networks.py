"""Every network that make_model.py knows: its name, and the class that builds it."""
from convnets import CONVNETS
from gated import GATED
from transformers import TRANSFORMERS

NETWORKS = {**CONVNETS, **GATED, **TRANSFORMERS}
